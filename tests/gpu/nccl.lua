-- NCCL with the one rank that one GPU has: collectives, and a model whose step is a graph with an exchange. Where NCCL
-- cannot be opened, that is printed. GPU_CHECK_STEPS shortens it.
local gb = require "gpubench"
local digit_losses = require "digit_losses"
local testing = require "testing"

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

testing.case("a strategy of one rank trains as the GPU alone", function()
  local function losses(scope)
    return digit_losses.of("M1", scope, { optimizer = gb.optimizers.Adam { learning_rate = 0.001 } })
  end
  local alone = losses(digit_losses.on "gpu:0")
  local exchanged = losses(function(body) return strategy:scope(body) end)
  testing.equal(#exchanged, digit_losses.steps)
  for step, loss in ipairs(alone) do testing.near(exchanged[step], loss, 1e-3 * math.max(loss, 0.1)) end
end)
