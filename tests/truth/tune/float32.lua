local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

slow_script {
  name = "float32", title = "Products in float32 where the processor multiplies bfloat16 faster",
  remedy = "mixed_precision",
  run = function(is_mended)
    if is_mended then gb.config.set_dtype_policy "mixed_bfloat16" end
    local input = gb.datasets.mnist("train"):batch(256, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.training(small_model { width = 512, depth = 2 }, input)
  end,
}
