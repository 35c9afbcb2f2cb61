local gb = require "gpubench"
local jpeg_digits = require "gpubench.helpers.jpeg_digits"
local slow_script = require "slow_script"
local small_model = require "small_model"

local count = 2000

slow_script {
  name = "jpeg_each_epoch", title = "Images are decoded again in every epoch", remedy = "cache",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    jpeg_digits.prepare(count)
    local images = jpeg_digits.records(count)
    for _, map in ipairs(jpeg_digits.maps()) do images = images:map(map) end
    if is_mended then
      images = images:cache()
      for _ in images:iter() do end
    end
    local input = images:shuffle(count, { seed = 1 }):batch(64, { drop_remainder = true })
    return gb.measure.training(small_model { width = 1024 }, input)
  end,
}
