local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

local function distorted(image, label)
  for _ = 1, 20 do image = (image:sqrt() + image):tanh() end
  return image, label
end

slow_script {
  name = "single_threaded_map", title = "A map on the training's own thread", remedy = "more_workers",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local options = { num_parallel_calls = is_mended and gb.AUTOTUNE or 0 }
    local input = gb.datasets.mnist("train"):map(distorted, options):batch(32, { drop_remainder = true })
    return gb.measure.training(small_model { width = 512 }, input)
  end,
}
