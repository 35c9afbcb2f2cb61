local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- A disk that takes 0.25 ms for every batch.
slow_script {
  name = "no_prefetch", title = "Batches are made between the steps", remedy = "prefetch",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local input = gb.datasets.mnist("train"):batch(64, { drop_remainder = true }):throttle { latency = 0.00025 }
    if is_mended then input = input:prefetch(gb.AUTOTUNE) end
    return gb.measure.training(small_model { width = 512 }, input)
  end,
}
