-- Residual nets as in torchvision (v1.5: the stride is in the 3 x 3 convolution). Padding is symmetric, as PyTorch's,
-- in layers of its own: "same" pads only the far side of an image where a stride is 2.
local gb = require "gpubench.native"

local resnet = {}

local function normalized(x, name)
  return gb.layers.BatchNormalization { momentum = 0.9, epsilon = 1e-5, name = name .. "_bn" }(x)
end

local function conv(x, filters, size, stride, name)
  if stride > 1 and size > 1 then x = gb.layers.ZeroPadding2D { padding = size // 2, name = name .. "_pad" }(x) end
  return normalized(gb.layers.Conv2D(filters, size, {
    strides = stride, padding = stride > 1 and "valid" or "same", use_bias = false, kernel_initializer = "he_normal",
    name = name,
  })(x), name)
end

local function relu(x) return gb.layers.Activation "relu"(x) end

function resnet.basic(x, filters, stride, name)
  x = relu(conv(x, filters, 3, stride, name .. "_conv1"))
  return conv(x, filters, 3, 1, name .. "_conv2")
end

function resnet.bottleneck(x, filters, stride, name)
  x = relu(conv(x, filters, 1, 1, name .. "_conv1"))
  x = relu(conv(x, filters, 3, stride, name .. "_conv2"))
  return conv(x, 4 * filters, 1, 1, name .. "_conv3")
end

-- `expansion`: channels of a block's output for each of its filters.
function resnet.build(name, block, expansion, options)
  local input = gb.Input(options.input_shape)
  local x = relu(conv(input, options.width, 7, 2, "conv1"))
  x = gb.layers.MaxPooling2D(3, { strides = 2 })(gb.layers.ZeroPadding2D(1)(x))
  local channels = options.width
  for stage, blocks in ipairs(options.blocks) do
    local filters = options.width << (stage - 1)
    for i = 1, blocks do
      local stride = i == 1 and stage > 1 and 2 or 1
      local part = string.format("stage%d_block%d", stage, i)
      local short = x
      if stride > 1 or channels ~= expansion * filters then
        short = conv(x, expansion * filters, 1, stride, part .. "_shortcut")
      end
      x, channels = relu(gb.layers.Add() { block(x, filters, stride, part), short }), expansion * filters
    end
  end
  x = gb.layers.GlobalAveragePooling2D()(x)
  local logits = gb.layers.Dense(options.classes, { name = "classes", dtype = "float32" })(x)
  return gb.Model { inputs = input, outputs = logits, name = name }
end

return resnet
