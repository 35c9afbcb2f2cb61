-- Trains the autoencoder of tests/peers/float16 by some steps in one precision and prints the loss of each step.
local gb = require "gpubench"

local function setting(name) return math.tointeger(os.getenv("PEERS_" .. name)) end
local batch_size, width, steps = setting "BATCH", setting "WIDTH", setting "STEPS"

gb.config.set_dtype_policy(os.getenv "PEERS_POLICY")
local model = gb.Sequential {
  gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
  gb.layers.Dense(32, { activation = "relu" }),
  gb.layers.Dense(width, { activation = "relu" }),
  gb.layers.Dense(784, { activation = "sigmoid" }),
}
model:compile { optimizer = "adam", loss = "mean_squared_error", auto_scale_loss = os.getenv "PEERS_SCALED" == "1" }

local digits = gb.datasets.mnist("train"):map(function(image) return image, image end)
local batches = digits:shuffle(60000, { seed = setting "SEED_OF_SHUFFLE" }):batch(batch_size, { drop_remainder = true })
local losses = model:fit(batches:repeated(), { epochs = steps, steps_per_epoch = 1, verbose = 0 }).history.loss
for step, loss in ipairs(losses) do losses[step] = loss == loss and string.format("%.9g", loss) or "null" end
print(string.format('{"system": "gpubench", "losses": [%s]}', table.concat(losses, ", ")))
