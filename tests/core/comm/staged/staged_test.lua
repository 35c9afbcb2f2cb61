-- Replicas on two GPUs that exchange through the host's memory, through all layers of the program with CUDA on the CPU.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local both = { "gpu:0", "gpu:1" }

-- The weights after a few epochs of batches of 16, the last of which is smaller.
local function weights(strategy, options)
  options = options or {}
  local x, y = thirds.rows(40)
  local inputs = gb.device("cpu:0", function() return gb.tensor(x) end)
  local labels = gb.device("cpu:0", function() return gb.tensor(y, { dtype = "int64" }) end)
  local function trained()
    gb.config.set_seed(3)
    local model = gb.Sequential {
      gb.layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
      gb.layers.Dense(3, { activation = "softmax" }),
    }
    model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 }, loss = "sparse_categorical_crossentropy",
      run_eagerly = options.eager }
    model:fit(inputs, labels, { epochs = 6, batch_size = 16, verbose = 0, shuffle = false })
    return model:get_weights()
  end
  if strategy then return strategy:scope(trained) end
  return gb.device("gpu:0", trained)
end

local function same(a, b)
  testing.equal(#a, #b)
  for i = 1, #a do testing.is_true((a[i] - b[i]):abs():max():item() < 1e-5, "weights " .. i) end
end

for _, how in ipairs { "local", "reduction_to_one" } do
  for _, eager in ipairs { false, true } do
    testing.case("two GPUs update as one by " .. how .. (eager and ", eagerly" or ""), function()
      local alone = weights(nil, { eager = eager })
      local strategy = gb.distribute.MirroredStrategy { devices = both, cross_device = how }
      testing.equal(strategy.communicator, "local through host memory")
      same(weights(strategy, { eager = eager }), alone)
      -- Several buckets, some of which are exchanged beside the kernels.
      same(weights(gb.distribute.MirroredStrategy { devices = both, cross_device = how, bucket_bytes = 64 },
        { eager = eager }), alone)
      same(weights(gb.distribute.MirroredStrategy { devices = both, cross_device = how, shares = { 1, 3 } },
        { eager = eager }), alone)
    end)
  end
end

testing.case("collectives are measured, and right", function()
  for _, op in ipairs { "all_reduce", "all_gather", "reduce_scatter", "broadcast" } do
    local row = gb.measure.collective { op = op, sizes = { 4096 }, devices = both, cross_device = "local",
      budget = 0.02 }[1]
    testing.equal({ row.device, row.replicas, row.wrong }, { "gpu:0+gpu:1", 2, 0 })
    testing.contains(row.implementation, "local through host memory")
  end
end)

testing.case("a measured training tells what its exchanges cost", function()
  local strategy = gb.distribute.MirroredStrategy { devices = both, cross_device = "local" }
  local model = strategy:scope(function()
    local model = gb.Sequential { gb.layers.Dense(16, { input_shape = { 12 } }), gb.layers.Dense(3) }
    model:compile { optimizer = "sgd", loss = "mse" }
    return model
  end)
  local data = gb.data.Dataset.from_tensor_slices { gb.ones { 64, 12 }, gb.ones { 64, 3 } }
  local row = gb.measure.training(model, data:batch(16), { budget = 0.1, warmup = 0.05 })
  testing.equal({ row.replicas, #row.ranks }, { 2, 2 })
  testing.is_true(row.exchange_time_s > 0, "exchanges take time")
  testing.is_true(row.communication_share >= 0 and row.communication_share < 1, "a share")
end)

testing.case("GPUs do not exchange with CPU devices", function()
  testing.raises("gpu:0, cpu:0 cannot exchange by cross_device = \"local\": CPU devices exchange with CPU devices, and "
    .. "GPUs with GPUs", gb.distribute.MirroredStrategy, { devices = { "gpu:0", "cpu:0" }, cross_device = "local" })
end)

testing.case("the GPUs' memory is free again", function()
  collectgarbage()
  collectgarbage()
  for _, device in ipairs(both) do testing.equal(gb.config.memory_info(device).in_use, 0) end
end)
