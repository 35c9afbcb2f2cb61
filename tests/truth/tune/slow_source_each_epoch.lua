local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- A file server that takes 0.4 ms for every batch, again in every epoch.
slow_script {
  name = "slow_source_each_epoch", title = "A slow source is read again in every epoch", remedy = "cache",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local source = gb.datasets.mnist("train"):take(2048):batch(64):throttle { latency = 0.0004 }
    if is_mended then
      source = source:cache()
      for _ in source:iter() do end
    end
    return gb.measure.training(small_model { width = 512 }, source:shuffle(32, { seed = 1 }))
  end,
}
