-- Sandler, Howard, Zhu, Zhmoginov, Chen: MobileNetV2: Inverted Residuals and Linear Bottlenecks, 2018, as in
-- torchvision. 3 504 872 parameters.
local gb = require "gpubench.native"
local mobilenet = require "gpubench.zoo.mobilenet"

-- Expansion, channels, blocks, stride of the first block.
local stages = {
  { 1, 16, 1, 1 }, { 6, 24, 2, 2 }, { 6, 32, 3, 2 }, { 6, 64, 4, 2 }, { 6, 96, 3, 1 }, { 6, 160, 3, 2 },
  { 6, 320, 1, 1 },
}

local function normalized(x, name)
  return gb.layers.BatchNormalization { momentum = 0.9, epsilon = 1e-5, name = name .. "_bn" }(x)
end

local function relu6(x) return gb.layers.ReLU(6)(x) end

local function pointwise(x, filters, name)
  return normalized(gb.layers.Conv2D(filters, 1,
    { use_bias = false, kernel_initializer = "he_normal", name = name })(x), name)
end

-- A convolution of 3 x 3, symmetrically padded.
local function spatial(x, stride, name, layer)
  if stride > 1 then x = gb.layers.ZeroPadding2D(1)(x) end
  return relu6(normalized(layer { strides = stride, padding = stride > 1 and "valid" or "same", use_bias = false,
    name = name }(x), name))
end

local function block(x, channels, expansion, filters, stride, name)
  local y = x
  if expansion > 1 then y = relu6(pointwise(x, expansion * channels, name .. "_expand")) end
  y = spatial(y, stride, name .. "_depthwise", function(options) return gb.layers.DepthwiseConv2D(3, options) end)
  y = pointwise(y, filters, name .. "_project")
  return stride == 1 and channels == filters and gb.layers.Add() { x, y } or y
end

return {
  defaults = { input_shape = { 224, 224, 3 }, classes = 1000, alpha = 1.0, dropout = 0.2 },
  build = function(options)
    local input = gb.Input(options.input_shape)
    local channels = mobilenet.scaled(32, options.alpha)
    local x = spatial(input, 2, "stem", function(conv)
      conv.kernel_initializer = "he_normal"
      return gb.layers.Conv2D(channels, 3, conv)
    end)
    for stage, row in ipairs(stages) do
      for i = 1, row[3] do
        local filters = mobilenet.scaled(row[2], options.alpha)
        x = block(x, channels, row[1], filters, i == 1 and row[4] or 1, string.format("stage%d_block%d", stage, i))
        channels = filters
      end
    end
    x = relu6(pointwise(x, mobilenet.scaled(1280, math.max(1.0, options.alpha)), "last"))
    x = gb.layers.GlobalAveragePooling2D()(x)
    if options.dropout > 0 then x = gb.layers.Dropout(options.dropout)(x) end
    local logits = gb.layers.Dense(options.classes, { name = "classes", dtype = "float32" })(x)
    return gb.Model { inputs = input, outputs = logits, name = "mobilenet_v2" }
  end,
}
