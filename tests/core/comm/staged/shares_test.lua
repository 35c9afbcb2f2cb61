-- Shares of one GPU as replicas, with CUDA on the CPU.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local both = { "gpu:0", "gpu:1" }
gb.config.set_logical_devices("gpu:0", { { memory_limit = 64 << 20 }, { memory_limit = 64 << 20 } })

local function trained()
  gb.config.set_seed(3)
  local x, y = thirds.tensors(48)
  local model = gb.Sequential { gb.layers.Dense(3, { activation = "softmax", input_shape = { 12 } }) }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.5 }, loss = "sparse_categorical_crossentropy" }
  model:fit(x, y, { epochs = 4, batch_size = 16, verbose = 0, shuffle = false })
  return model:get_weights()
end

testing.case("two shares update as one GPU with the global batch", function()
  local alone = gb.device("gpu:0", trained)
  local strategy = gb.distribute.MirroredStrategy { devices = both, cross_device = "local" }
  for i, weight in ipairs(strategy:scope(trained)) do
    testing.is_true((weight - alone[i]):abs():max():item() < 1e-5, "weights " .. i)
  end
end)
