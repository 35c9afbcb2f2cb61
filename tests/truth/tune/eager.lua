local gb = require "gpubench"
local slow_script = require "slow_script"
local small_model = require "small_model"

slow_script {
  name = "eager", title = "A model that runs eagerly", remedy = "graph",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 } })
    local model = small_model { width = 64, depth = 6 }
    model:compile {
      optimizer = "sgd", loss = "categorical_crossentropy", execution = is_mended and "graph" or "eager",
    }
    local input = gb.datasets.mnist("train"):batch(16, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.training(model, input)
  end,
}
