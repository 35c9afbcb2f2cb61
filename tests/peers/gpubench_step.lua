-- One model in gpubench, timed as the peers are: by whole epochs of fit, and once more by gb.measure.training. What to
-- train comes from the environment (PEERS_MODEL, PEERS_BATCH, PEERS_STEPS, PEERS_SECONDS, PEERS_SEED); the last line of
-- the output is the result.
local gb = require "gpubench"
local models = require "models"

local model_name = os.getenv "PEERS_MODEL" or "M1"
local batch_size = math.tointeger(os.getenv "PEERS_BATCH" or "32")
local steps = math.tointeger(os.getenv "PEERS_STEPS" or "1875")
local enough_s = tonumber(os.getenv "PEERS_SECONDS" or "5")
local seconds = gb._native.system.seconds

local function input()
  local digits = gb.datasets.mnist("train"):take(steps * batch_size)
  return digits:shuffle(10000):batch(batch_size):prefetch(gb.AUTOTUNE)
end

local model = models.build(model_name)
local times, started, total = {}, 0, 0
model:fit(input(), {
  epochs = 1000000,
  verbose = 0,
  callbacks = { {
    on_epoch_begin = function() started = seconds() end,
    on_epoch_end = function(epoch)
      local elapsed = seconds() - started
      if epoch == 1 then return end
      times[#times + 1] = elapsed / steps
      total = total + elapsed
      if total >= enough_s then return false end
    end,
  } },
})
local measured = gb.measure.training(model, input())

table.sort(times)
print(string.format('{"system": "gpubench", "step_time_s": %.9g, "step_time_min_s": %.9g, '
  .. '"measured_step_time_s": %.9g, '
  .. '"peak_memory_bytes": %d, "steps_per_epoch": %d, "version": "%s"}',
  times[(#times + 1) // 2], times[1], measured.step_time_s, measured.peak_memory_bytes, steps, gb.version or ""))
