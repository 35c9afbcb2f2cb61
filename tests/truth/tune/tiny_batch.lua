local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

slow_script {
  name = "tiny_batch", title = "Steps of a few examples", remedy = "larger_batch",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local size = is_mended and 32 or 8
    local input = gb.datasets.mnist("train"):batch(size, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.training(small_model { width = 256 }, input)
  end,
}
