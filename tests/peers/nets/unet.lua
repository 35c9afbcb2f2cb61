local gb = require "gpubench"
local L = gb.layers
local function block(x, n)
  for _ = 1, 2 do
    x = L.BatchNormalization()(L.Conv2D(n, 3, { padding = "same", use_bias = false })(x)):relu()
  end
  return x
end
local input = gb.Input { 64, 64, 3 }
local x, skips = input, {}
for i, n in ipairs { 16, 32, 64 } do
  skips[i] = block(x, n)
  x = L.MaxPooling2D(2)(skips[i])
end
x = block(x, 128)
for i = 3, 1, -1 do
  local n = skips[i].shape[3]
  x = block(L.Concatenate() { skips[i], L.Conv2DTranspose(n, 2, { strides = 2 })(x) }, n)
end
local model = gb.Model { inputs = input, outputs = L.Conv2D(1, 1, { activation = "sigmoid" })(x) }
local bce = gb.losses.BinaryCrossentropy()
model:compile { optimizer = "adam", metrics = { "binary_accuracy" }, loss = function(y, p)
  return bce(y, p) + 1 - (2 * (y * p):sum() + 1) / (y:sum() + p:sum() + 1)
end }
return function()
  local images = gb.random.normal { 64, 64, 64, 3 }
  local masks = images:mean(-1, true):gt(0):cast "float32"
  return model, gb.data.Dataset.from_tensor_slices { images, masks }:batch(8), 8, 5
end
