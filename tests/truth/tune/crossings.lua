local gb = require "gpubench"
local slow_script = require "slow_script"

local function dense(device, width, options)
  return gb.device(device, function() return gb.layers.Dense(width, options) end)
end

slow_script {
  name = "crossings", title = "Neighbouring layers on different devices", remedy = "one_device",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
    local home, away = "cpu:0", is_mended and "cpu:0" or "cpu:1"
    local model = gb.Sequential {
      dense(home, 256, { activation = "relu", input_shape = { 784 } }),
      dense(away, 256, { activation = "relu" }),
      dense(home, 256, { activation = "relu" }),
      dense(away, 256, { activation = "relu" }),
      dense(home, 10, { activation = "softmax" }),
    }
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    local input = gb.datasets.mnist("train"):batch(64, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.training(model, input)
  end,
}
