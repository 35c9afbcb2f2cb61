local gb = require "gpubench"
local slow_script = require "slow_script"

local function dense(device, width, options)
  return gb.device(device, function() return gb.layers.Dense(width, options) end)
end

slow_script {
  name = "crossings", title = "Neighbouring layers on different devices", remedy = "one_device",
  run = function(is_mended)
    gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
    local layers = { dense("cpu:0", 16, { activation = "relu", input_shape = { 16 } }) }
    for number = 2, 8 do
      layers[number] = dense(number % 2 == 0 and not is_mended and "cpu:1" or "cpu:0", 16, { activation = "relu" })
    end
    layers[9] = dense("cpu:0", 10, { activation = "softmax" })
    local model = gb.Sequential(layers)
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    local examples = gb.data.Dataset.synthetic { types = { "float32[16]", "float32[10]" }, count = 8192 }
    local input = examples:batch(256):prefetch(gb.AUTOTUNE)
    return gb.measure.training(model, input)
  end,
}
