-- Two shares of the GPU as replicas that exchange through the host's memory: collectives are right, in one piece and in
-- several, and a model learns as on the whole GPU. GPU_CHECK_STEPS shortens it.
local gb = require "gpubench"
local models = require "models"
local testing = require "testing"

local steps = math.tointeger(os.getenv "GPU_CHECK_STEPS" or "30")
local batch_size = 32
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

local digits = gb.device("cpu:0", function() return gb.datasets.mnist("train"):take(steps * batch_size) end)

local function losses(scope)
  gb.config.set_seed(11)
  return scope(function()
    local model, seen = models.build "M1", {}
    model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.05 }, loss = "categorical_crossentropy" }
    model:fit(digits:batch(batch_size), { epochs = 1, verbose = 0, callbacks = {
      { on_batch_end = function(_, logs) seen[#seen + 1] = logs.loss end },
    } })
    return seen
  end)
end

testing.case("two shares learn as one GPU", function()
  local alone = losses(function(fn) return gb.device("gpu:0", fn) end)
  local strategy = gb.distribute.MirroredStrategy { devices = both, cross_device = "local", bucket_bytes = 100000 }
  local together = losses(function(fn) return strategy:scope(fn) end)
  testing.equal(#together, steps)
  for step = 1, steps do testing.near(together[step], alone[step], 5e-3 * math.max(alone[step], 0.1)) end
end)
