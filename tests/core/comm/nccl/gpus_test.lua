-- Replicas on two GPUs through all layers of the program; run by the program with CUDA and NCCL on the CPU.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local both = { "gpu:0", "gpu:1" }

local function build(options)
  gb.config.set_seed(3)
  local model = gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 12 } }),
    gb.layers.Dense(3, { activation = "softmax" }),
  }
  model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 }, loss = "sparse_categorical_crossentropy",
    run_eagerly = options.eager }
  return model
end

-- The weights after a few epochs of batches of 16, the last of which is smaller.
local function weights(options)
  local x, y = thirds.rows(40)
  local inputs = gb.device("cpu:0", function() return gb.tensor(x) end)
  local labels = gb.device("cpu:0", function() return gb.tensor(y, { dtype = "int64" }) end)
  local function trained()
    local model = build(options)
    model:fit(inputs, labels, { epochs = 4, batch_size = 16, verbose = 0, shuffle = false })
    return model:get_weights()
  end
  if options.strategy then return options.strategy:scope(trained) end
  return gb.device("gpu:0", trained)
end

local function same(a, b)
  testing.equal(#a, #b)
  for i = 1, #a do testing.is_true((a[i] - b[i]):abs():max():item() < 1e-5, "weights " .. i) end
end

testing.case("all GPUs are replicas, which exchange over NCCL", function()
  local strategy = gb.distribute.MirroredStrategy {}
  testing.equal(strategy.devices, both)
  testing.equal(strategy.num_replicas_in_sync, 2)
  testing.contains(strategy.communicator, "nccl 2.")
end)

for _, eager in ipairs { false, true } do
  testing.case("two GPUs update as one with the global batch" .. (eager and ", eagerly" or ""), function()
    local alone = weights { eager = eager }
    same(weights { eager = eager, strategy = gb.distribute.MirroredStrategy { devices = both } }, alone)
    same(weights { eager = eager,
      strategy = gb.distribute.MirroredStrategy { devices = both, bucket_bytes = 64 } }, alone)
    same(weights { eager = eager, strategy = gb.distribute.MirroredStrategy { devices = both, cross_device = "nccl",
                                                                              shares = { 1, 3 } } }, alone)
  end)
end

testing.case("a strategy of one GPU is one too", function()
  same(weights { strategy = gb.distribute.MirroredStrategy { devices = { "gpu:1" } } }, weights {})
end)

testing.case("collectives are measured, and right", function()
  for _, op in ipairs { "all_reduce", "all_gather", "reduce_scatter", "broadcast" } do
    local row = gb.measure.collective { op = op, sizes = { 4096 }, devices = both, budget = 0.02 }[1]
    testing.equal({ row.device, row.replicas, row.wrong }, { "gpu:0+gpu:1", 2, 0 })
    testing.contains(row.implementation, "nccl 2.")
  end
end)

testing.case("mistakes are named", function()
  testing.raises("nccl: it exchanges between GPUs, and cpu:0 is none: use cross_device = \"local\"",
    gb.distribute.MirroredStrategy, { devices = { "cpu:0" }, cross_device = "nccl" })
  testing.raises("gpu:0, cpu:0 cannot exchange with each other", gb.distribute.MirroredStrategy,
    { devices = { "gpu:0", "cpu:0" } })
end)

testing.case("the GPUs' memory is free again", function()
  collectgarbage()
  collectgarbage()
  for _, device in ipairs(both) do testing.equal(gb.config.memory_info(device).in_use, 0) end
end)
