-- Howard, Sandler, Chu, Chen, Chen, Tan, Wang, Zhu, Pang, Vasudevan, Le, Adam: Searching for MobileNetV3, 2019, as in
-- Keras, with its layers behind the pooling dense. Large has 5 483 032 parameters, or 5 507 432 with the statistics of
-- normalizations, as Keras counts; small 2 542 856 or 2 554 968.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local mobilenet = require "gpubench.zoo.mobilenet"

-- Blocks: kernel, expansion, channels, whether it squeezes and excites, activation, stride.
local types = {
  large = {
    units = 1280,
    { 3, 1, 16, false, "relu", 1 }, { 3, 4, 24, false, "relu", 2 }, { 3, 3, 24, false, "relu", 1 },
    { 5, 3, 40, true, "relu", 2 }, { 5, 3, 40, true, "relu", 1 }, { 5, 3, 40, true, "relu", 1 },
    { 3, 6, 80, false, "hard_swish", 2 }, { 3, 2.5, 80, false, "hard_swish", 1 },
    { 3, 2.3, 80, false, "hard_swish", 1 }, { 3, 2.3, 80, false, "hard_swish", 1 },
    { 3, 6, 112, true, "hard_swish", 1 }, { 3, 6, 112, true, "hard_swish", 1 },
    { 5, 6, 160, true, "hard_swish", 2 }, { 5, 6, 160, true, "hard_swish", 1 }, { 5, 6, 160, true, "hard_swish", 1 },
  },
  small = {
    units = 1024,
    { 3, 1, 16, true, "relu", 2 }, { 3, 72 / 16, 24, false, "relu", 2 }, { 3, 88 / 24, 24, false, "relu", 1 },
    { 5, 4, 40, true, "hard_swish", 2 }, { 5, 6, 40, true, "hard_swish", 1 }, { 5, 6, 40, true, "hard_swish", 1 },
    { 5, 3, 48, true, "hard_swish", 1 }, { 5, 3, 48, true, "hard_swish", 1 },
    { 5, 6, 96, true, "hard_swish", 2 }, { 5, 6, 96, true, "hard_swish", 1 }, { 5, 6, 96, true, "hard_swish", 1 },
  },
}

local function normalized(x, layer, name, activation)
  x = gb.layers.BatchNormalization { momentum = 0.999, epsilon = 1e-3, name = name .. "_bn" }(layer(x))
  return activation and gb.layers.Activation(activation)(x) or x
end

local function conv(x, filters, size, stride, name, activation)
  return normalized(x, gb.layers.Conv2D(filters, size,
    { strides = stride, padding = "same", use_bias = false, name = name }), name, activation)
end

-- Each channel of an image times a factor, which depends on the means of all channels.
local function excited(x, channels, name)
  local y = gb.layers.GlobalAveragePooling2D { keepdims = true }(x)
  y = gb.layers.Dense(mobilenet.scaled(channels, 0.25), { activation = "relu", name = name .. "_squeeze" })(y)
  y = gb.layers.Dense(channels, { activation = "hard_sigmoid", name = name .. "_excite" })(y)
  return gb.layers.Multiply() { x, y }
end

local function block(x, channels, row, filters, name)
  local kernel, expansion, _, excites, activation, stride = table.unpack(row)
  local y, hidden = x, mobilenet.scaled(channels, expansion)
  if expansion > 1 then y = conv(x, hidden, 1, 1, name .. "_expand", activation) end
  y = normalized(y, gb.layers.DepthwiseConv2D(kernel,
    { strides = stride, padding = "same", use_bias = false, name = name .. "_depthwise" }), name .. "_depthwise",
    activation)
  if excites then y = excited(y, hidden, name) end
  y = conv(y, filters, 1, 1, name .. "_project")
  return stride == 1 and channels == filters and gb.layers.Add() { x, y } or y
end

return {
  defaults = { input_shape = { 224, 224, 3 }, classes = 1000, model_type = "large", alpha = 1.0, dropout = 0.2 },
  build = function(options)
    local blocks = types[options.model_type]
    if not blocks then
      check.fail("gb.zoo.mobilenet_v3: option 'model_type': 'large' or 'small' expected, got '%s'", options.model_type)
    end
    local input = gb.Input(options.input_shape)
    local channels = 16
    local x = conv(input, channels, 3, 2, "stem", "hard_swish")
    for i, row in ipairs(blocks) do
      local filters = mobilenet.scaled(row[3], options.alpha)
      x = block(x, channels, row, filters, "block" .. i)
      channels = filters
    end
    x = gb.layers.GlobalAveragePooling2D()(conv(x, mobilenet.scaled(channels, 6), 1, 1, "last", "hard_swish"))
    x = gb.layers.Dense(mobilenet.scaled(blocks.units, math.max(1.0, options.alpha)),
      { activation = "hard_swish", name = "head" })(x)
    if options.dropout > 0 then x = gb.layers.Dropout(options.dropout)(x) end
    local logits = gb.layers.Dense(options.classes, { name = "classes", dtype = "float32" })(x)
    return gb.Model { inputs = input, outputs = logits, name = "mobilenet_v3" }
  end,
}
