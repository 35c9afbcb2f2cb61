-- NCCL with the one rank that one GPU has: collectives, and a model whose step is a graph with an exchange. Where NCCL
-- cannot be opened, that is printed. GPU_CHECK_STEPS shortens it.
local gb = require "gpubench"
local models = require "models"
local testing = require "testing"

local steps = math.tointeger(os.getenv "GPU_CHECK_STEPS" or "30")
local batch_size = 32
local one = { devices = { "gpu:0" }, cross_device = "nccl" }

local opened, strategy = pcall(gb.distribute.MirroredStrategy, one)
if not opened then
  print("note: no NCCL: " .. tostring(strategy))
  return
end
print("note: " .. strategy.communicator)

for _, op in ipairs { "all_reduce", "all_gather", "reduce_scatter", "broadcast" } do
  testing.case(op .. " of one rank is right", function()
    for _, row in ipairs(gb.measure.collective { op = op, sizes = { 4096, 10 << 20 }, devices = one.devices,
      cross_device = one.cross_device, budget = 0.05 }) do
      testing.equal({ row.replicas, row.wrong }, { 1, 0 })
      testing.contains(row.implementation, "nccl 2.")
    end
  end)
end

local digits = gb.device("cpu:0", function() return gb.datasets.mnist("train"):take(steps * batch_size) end)

local function losses(scope)
  gb.config.set_seed(11)
  return scope(function()
    local model, seen = models.build "M1", {}
    model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.001 }, loss = "categorical_crossentropy" }
    model:fit(digits:batch(batch_size), { epochs = 1, verbose = 0, callbacks = {
      { on_batch_end = function(_, logs) seen[#seen + 1] = logs.loss end },
    } })
    return seen
  end)
end

testing.case("a strategy of one rank trains as the GPU alone", function()
  local alone = losses(function(body) return gb.device("gpu:0", body) end)
  local exchanged = losses(function(body) return strategy:scope(body) end)
  testing.equal(#exchanged, steps)
  for step, loss in ipairs(alone) do testing.near(exchanged[step], loss, 1e-3 * math.max(loss, 0.1)) end
end)
