-- Replicas on two GPUs through all layers of the program; run by the program with CUDA and NCCL on the CPU.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local both = { "gpu:0", "gpu:1" }
local weights, same = thirds.weights, thirds.same_weights

testing.case("all GPUs are replicas, which exchange over NCCL", function()
  local strategy = gb.distribute.MirroredStrategy {}
  testing.equal(strategy.devices, both)
  testing.equal(strategy.num_replicas_in_sync, 2)
  testing.contains(strategy.communicator, "nccl 2.")
end)

for _, eager in ipairs { false, true } do
  testing.case("two GPUs update as one with the global batch" .. (eager and ", eagerly" or ""), function()
    local alone = weights { epochs = 4, eager = eager }
    for _, how in ipairs { {}, { bucket_bytes = 64 }, { cross_device = "nccl", shares = { 1, 3 } } } do
      how.devices = both
      same(weights { epochs = 4, eager = eager, strategy = gb.distribute.MirroredStrategy(how) }, alone)
    end
  end)
end

testing.case("a strategy of one GPU is one too", function()
  local strategy = gb.distribute.MirroredStrategy { devices = { "gpu:1" } }
  same(weights { epochs = 4, strategy = strategy }, weights { epochs = 4 })
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
