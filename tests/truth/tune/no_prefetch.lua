local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

-- A reader that takes half as long for a batch as the step.
slow_script {
  name = "no_prefetch", title = "Batches are made between the steps", remedy = "prefetch",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local input = gb.datasets.mnist("train"):batch(64, { drop_remainder = true }):throttle { latency = 0.001 }
    if is_mended then input = input:prefetch(gb.AUTOTUNE) end
    return gb.measure.training(small_model { width = 512 }, input)
  end,
}
