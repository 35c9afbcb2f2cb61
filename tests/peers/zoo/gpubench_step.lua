-- Steps of one net of gb.zoo, timed by epochs as the peers' are: epochs of fit, or of answers to one batch. What to run
-- comes from the environment (PEERS_NET, PEERS_BATCH, PEERS_OPTIONS, PEERS_STEPS, PEERS_SECONDS, PEERS_PRECISION,
-- PEERS_INFERENCE); the last line of the output is the result.
local gb = require "gpubench"
local zoo_options = require "zoo_options"

local name = os.getenv "PEERS_NET"
local batch_size = math.tointeger(os.getenv "PEERS_BATCH")
local steps = math.tointeger(os.getenv "PEERS_STEPS" or "3")
local enough_s = tonumber(os.getenv "PEERS_SECONDS" or "5")
local seconds = gb._native.system.seconds
local options = zoo_options.parse(os.getenv "PEERS_OPTIONS" or "")

-- The most memory that this process has had resident.
local function peak_bytes()
  local status <close> = assert(io.open "/proc/self/status")
  return math.tointeger(status:read "a":match "VmHWM:%s*(%d+) kB") * 1024
end

local rss_before_net = peak_bytes()
if os.getenv "PEERS_PRECISION" == "bfloat16" then gb.config.set_dtype_policy "mixed_bfloat16" end
local model = gb.zoo[name](options)
model:compile {
  optimizer = gb.optimizers.Adam { learning_rate = 1e-4 },
  loss = name == "lstm_text" and gb.losses.BinaryCrossentropy { from_logits = true }
    or gb.losses.SparseCategoricalCrossentropy { from_logits = true },
}
local batches = zoo_options.batches(name, batch_size, options, steps)
local times, started, total = {}, 0, 0

-- Whether to go on after an epoch; the first warms up.
local function epoch_ended(epoch)
  local elapsed = seconds() - started
  if epoch == 1 then return true end
  times[#times + 1] = elapsed / steps
  total = total + elapsed
  return total < enough_s
end

if os.getenv "PEERS_INFERENCE" == "1" then
  local inputs = batches:iter()()
  local epoch = 0
  repeat
    epoch, started = epoch + 1, seconds()
    for _ = 1, steps do model:predict_on_batch(inputs) end
  until not epoch_ended(epoch)
else
  model:fit(batches, {
    epochs = 1000000, verbose = 0,
    callbacks = { {
      on_epoch_begin = function() started = seconds() end,
      on_epoch_end = function(epoch) if not epoch_ended(epoch) then return false end end,
    } },
  })
end
table.sort(times)
print(string.format('{"system": "gpubench", "step_time_s": %.9g, "step_time_min_s": %.9g, "parameters": %d, '
  .. '"plan_bytes": %d, "rss_before_net": %d, "version": "%s"}', times[(#times + 1) // 2], times[1],
  model:count_params { trainable = true }, model:memory(batch_size).total, rss_before_net, gb.version or ""))
