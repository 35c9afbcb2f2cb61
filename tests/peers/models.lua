-- The models of the comparison, on images [784].
local gb = require "gpubench"

local models = {}

local hidden = { M1 = { 128 }, M2 = { 1024, 1024, 1024 } }

local function dense(widths)
  local layers = {}
  for index, width in ipairs(widths) do
    layers[index] = gb.layers.Dense(width, { activation = "relu", input_shape = index == 1 and { 784 } or nil })
  end
  return layers
end

local function convolutional()
  return {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(32, 3, { activation = "relu" }),
    gb.layers.MaxPooling2D(2),
    gb.layers.Flatten(),
  }
end

function models.build(name)
  local layers = name == "M3" and convolutional() or dense(hidden[name])
  layers[#layers + 1] = gb.layers.Dense(10, { activation = "softmax" })
  local model = gb.Sequential(layers)
  model:compile {
    optimizer = gb.optimizers.Adam { learning_rate = 0.001 },
    loss = "categorical_crossentropy",
    metrics = { "accuracy" },
  }
  return model
end

return models
