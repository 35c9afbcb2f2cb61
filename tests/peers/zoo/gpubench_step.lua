-- Steps of one net of gb.zoo, timed by epochs of fit as the peers' are by epochs of a loop. What to train comes from the
-- environment (PEERS_NET, PEERS_BATCH, PEERS_OPTIONS, PEERS_STEPS, PEERS_SECONDS); the last line of the output is the result.
local gb = require "gpubench"
local zoo_options = require "zoo_options"

local name = os.getenv "PEERS_NET"
local batch_size = math.tointeger(os.getenv "PEERS_BATCH")
local steps = math.tointeger(os.getenv "PEERS_STEPS" or "3")
local enough_s = tonumber(os.getenv "PEERS_SECONDS" or "5")
local seconds = gb._native.system.seconds
local options = zoo_options.parse(os.getenv "PEERS_OPTIONS" or "")

local model = gb.zoo[name](options)
model:compile {
  optimizer = gb.optimizers.Adam { learning_rate = 1e-4 },
  loss = name == "lstm_text" and gb.losses.BinaryCrossentropy { from_logits = true }
    or gb.losses.SparseCategoricalCrossentropy { from_logits = true },
}
local batches = zoo_options.batches(name, batch_size, options, steps)
local times, started, total = {}, 0, 0
model:fit(batches, {
  epochs = 1000000, verbose = 0,
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
table.sort(times)
print(string.format('{"system": "gpubench", "step_time_s": %.9g, "step_time_min_s": %.9g, "parameters": %d, '
  .. '"plan_bytes": %d, "version": "%s"}', times[(#times + 1) // 2], times[1], model:count_params { trainable = true },
  model:memory(batch_size).total, gb.version or ""))
