local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- What a file server takes for every batch, again in every epoch.
slow_script {
  name = "slow_source_each_epoch", title = "A slow source is read again in every epoch", remedy = "cache",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local source = gb.datasets.mnist("train"):take(2048):throttle { latency = 30e-6 }
    if is_mended then
      source = source:cache()
      for _ in source:iter() do end
    end
    local input = source:shuffle(2048, { seed = 1 }):batch(64, { drop_remainder = true })
    return gb.measure.training(small_model { width = 512 }, input)
  end,
}
