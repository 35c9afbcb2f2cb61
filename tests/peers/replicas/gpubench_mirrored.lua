-- One model on replicas of one thread each, timed as the peers are: by whole epochs of fit, and once more by
-- gb.measure.training. What to train comes from the environment (PEERS_MODEL, PEERS_BATCH of a replica, PEERS_REPLICAS,
-- PEERS_STEPS, PEERS_SECONDS); the last line of the output is the result.
local gb = require "gpubench"
local models = require "models"

local replicas = math.tointeger(os.getenv "PEERS_REPLICAS" or "2")
local global_batch = replicas * math.tointeger(os.getenv "PEERS_BATCH" or "32")
local steps = math.tointeger(os.getenv "PEERS_STEPS" or "400")
local enough_s = tonumber(os.getenv "PEERS_SECONDS" or "5")
local seconds = gb._native.system.seconds

local threads, devices = {}, {}
for index = 1, replicas do threads[index], devices[index] = { threads = 1 }, "cpu:" .. index - 1 end
gb.config.set_logical_devices("cpu:0", threads)

local function input()
  local digits = gb.datasets.mnist("train"):take(steps * global_batch)
  return digits:shuffle(10000):batch(global_batch):prefetch(gb.AUTOTUNE)
end

local times, started, total = {}, 0, 0
local measured = gb.distribute.MirroredStrategy { devices = devices }:scope(function()
  local model = models.build(os.getenv "PEERS_MODEL" or "M1")
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
  return gb.measure.training(model, input())
end)

table.sort(times)
local step_time_s = times[(#times + 1) // 2]
print(string.format('{"system": "gpubench", "step_time_s": %.9g, "step_time_min_s": %.9g, "examples_per_s": %.9g, '
  .. '"measured_examples_per_s": %.9g, "steps_per_epoch": %d, "version": "%s"}',
  step_time_s, times[1], global_batch / step_time_s, measured.examples_per_s, steps, gb.version or ""))
