-- Does the choice of layers decide how well the hardware is used?
--
-- Cause:  inefficient layers: dense where a convolution would do, widths that do not map to the hardware.
-- Remedy: convolution and pooling; widths that are multiples of the vector or tile size.
-- Claim:  per parameter, convolution is more accurate than dense layers; a width just past a multiple of 8 is no faster
--         per flop than the multiple itself.
-- Charts: accuracy over parameters, dense and convolutional; flops per second over the width.
-- On CPUs a misaligned width costs little in float32; tensor cores are where it shows.
local gb = require "gpubench"

local function dense(width)
  return gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

local function convolutional(width)
  return gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(width, 3, { activation = "relu" }),
    gb.layers.MaxPooling2D(2),
    gb.layers.Flatten(),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

gb.experiment {
  name  = "architecture",
  title = "Layers that fit the data and the hardware",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("family", { "dense", "conv" }),
    gb.axis("width", { 8, 16, 31, 32, 33, 63, 64, 65 }),
  },
  columns = { "parameters", "test_accuracy" },
  run = function(point)
    return gb.device(point.device, function()
      local model = (point.family == "dense" and dense or convolutional)(point.width)
      model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
      local row = gb.measure.training(model, gb.datasets.mnist("train"):shuffle(10000):batch(64, { drop_remainder = true }))
      model:fit(gb.datasets.mnist("train"):shuffle(10000):batch(64), { epochs = 1, verbose = 0 })
      row.test_accuracy = model:evaluate(gb.datasets.mnist("test"):batch(256)).accuracy
      row.parameters = model:count_params()
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "parameters", y = "test_accuracy", series = "family", log_x = 10 },
    gb.chart.line { x = "width", y = "flops_per_s", series = "family" },
  },
  expect = {},
}
