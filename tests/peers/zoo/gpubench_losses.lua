-- The loss of each step of one net of gb.zoo, on the batches in x.npy and y.npy of PEERS_FOLDER; its name, options and
-- batch size come from the environment too. With PEERS_WEIGHTS it begins with the weights that PyTorch began with. The
-- last line of the output is the result.
local gb = require "gpubench"
local names = require "names"
local zoo_options = require "zoo_options"

local folder, batch_size = os.getenv "PEERS_FOLDER" .. "/", math.tointeger(os.getenv "PEERS_BATCH")
local net = os.getenv "PEERS_NET"
local model = gb.zoo[net](zoo_options.parse(os.getenv "PEERS_OPTIONS" or ""))
if os.getenv "PEERS_WEIGHTS" == "torch" then
  model:load_weights {
    folder .. "weights.safetensors", names = names[net], layout = net == "gpt2_small" and "keras" or "torch",
  }
end
model:compile {
  optimizer = gb.optimizers.Adam { learning_rate = 1e-3 },
  loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true },
}
local examples = gb.data.Dataset.from_tensor_slices { gb.load_npy(folder .. "x.npy"), gb.load_npy(folder .. "y.npy") }
local losses = {}
for x, y in examples:batch(batch_size) do
  losses[#losses + 1] = string.format("%.9g", model:train_on_batch(x, y).loss)
end
print(string.format('{"system": "gpubench", "losses": [%s], "version": "%s"}', table.concat(losses, ", "),
  gb.version or ""))
