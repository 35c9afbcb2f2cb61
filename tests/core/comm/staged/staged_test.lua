-- Replicas on two GPUs that exchange through the host's memory, through all layers of the program with CUDA on the CPU.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local both = { "gpu:0", "gpu:1" }
local weights, same = thirds.weights, thirds.same_weights

for _, how in ipairs { "local", "reduction_to_one" } do
  for _, eager in ipairs { false, true } do
    testing.case("two GPUs update as one by " .. how .. (eager and ", eagerly" or ""), function()
      local alone = weights { epochs = 6, eager = eager }
      -- Of several buckets some are exchanged beside the kernels.
      for _, options in ipairs { {}, { bucket_bytes = 64 }, { shares = { 1, 3 } } } do
        options.devices, options.cross_device = both, how
        local strategy = gb.distribute.MirroredStrategy(options)
        testing.equal(strategy.communicator, "local through host memory")
        same(weights { epochs = 6, eager = eager, strategy = strategy }, alone)
      end
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
