local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- A diary of the training: one line a step, or one an epoch.
local function write(diary, logs)
  for _ = 1, 20 do diary[#diary % 100 + 1] = string.format("loss %.6f accuracy %.6f", logs.loss, logs.loss) end
end

local epochs = 4

slow_script {
  name = "callback_each_step", title = "A callback after every batch", remedy = "fewer_callbacks",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local model, diary = small_model { width = 64 }, {}
    local callback = { on_batch_end = function(_, logs) write(diary, logs) end }
    if is_mended then callback = { on_epoch_end = function(_, logs) write(diary, logs) end } end
    local input = gb.datasets.mnist("train"):take(2048):batch(32, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    model:fit(input, { epochs = 1, verbose = 0 })
    local began = gb.clock()
    model:fit(input, { epochs = epochs, verbose = 0, callbacks = { callback } })
    return { examples_per_s = epochs * 2048 / (gb.clock() - began) }
  end,
}
