-- Two shares of the GPU as replicas that exchange through the host's memory: collectives are right, in one piece and in
-- several, and a model learns as on the whole GPU. GPU_CHECK_STEPS shortens it.
local gb = require "gpubench"
local digit_losses = require "digit_losses"
local testing = require "testing"

local limit = 200 << 20
local both = { "gpu:0", "gpu:1" }
gb.config.set_logical_devices("gpu:0", { { memory_limit = limit }, { memory_limit = limit } })

for _, op in ipairs { "all_reduce", "all_gather", "reduce_scatter", "broadcast" } do
  testing.case(op .. " is right", function()
    for _, row in ipairs(gb.measure.collective { op = op, sizes = { 4096, 10 << 20 }, devices = both,
      cross_device = "local",
                                                 budget = 0.05 }) do
      testing.equal({ row.replicas, row.wrong }, { 2, 0 })
      print(string.format("%s of %d bytes by %s: %.3g s", op, row.message_bytes, row.implementation,
        row.collective_time_s))
    end
  end)
end

testing.case("two shares learn as one GPU", function()
  local function losses(scope)
    return digit_losses.of("M1", scope, { optimizer = gb.optimizers.SGD { learning_rate = 0.05 } })
  end
  local alone = losses(digit_losses.on "gpu:0")
  local strategy = gb.distribute.MirroredStrategy { devices = both, cross_device = "local", bucket_bytes = 100000 }
  local together = losses(function(body) return strategy:scope(body) end)
  testing.equal(#together, digit_losses.steps)
  for step, loss in ipairs(alone) do testing.near(together[step], loss, 5e-3 * math.max(loss, 0.1)) end
end)
