-- Does the choice of layers decide how well the hardware is used?
--
-- Cause:  inefficient layers: dense where a convolution would do, widths that do not map to the hardware.
-- Remedy: convolution and pooling; widths that are multiples of the vector or tile size.
-- Claim:  with as many parameters, convolution is no less accurate than dense layers; a width just past a multiple of 8 is
--         no faster per flop than the multiple itself (within 5 %).
-- Charts: accuracy over parameters, dense and convolutional; flops per second over the width.
-- Speed and accuracy are those of two models: the accuracy is that of one with its own seed after a set number of epochs,
-- in each of six trials. On CPUs a misaligned width costs little in float32; tensor cores
-- are where it shows.
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

local function compiled(point)
  local model = (point.family == "dense" and dense or convolutional)(point.width)
  model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
  return model
end

local epochs = gb.quick and 1 or 3

-- Of a fresh model that has seen the same digits in the same order as all others; each trial has its own weights.
local function test_accuracy(point)
  local model = compiled(point)
  model:fit(gb.datasets.mnist("train"):shuffle(10000, { seed = 1 }):batch(64), { epochs = epochs, verbose = 0 })
  return model:evaluate(gb.datasets.mnist("test"):batch(250)).accuracy
end

-- Widths at which both families have nearly as many parameters: 13, 27 and 54 thousand.
local function no_less_accurate(conv, dense_width)
  return gb.expect.ratio {
    y = "test_accuracy", of = { family = "conv", width = conv }, over = { family = "dense", width = dense_width },
    at_least = 0.99,
    claim = string.format("convolution of width %d is as accurate as dense layers of width %d", conv, dense_width),
  }
end

local function no_faster(width, multiple)
  return gb.expect.ratio {
    y = "flops_per_s", of = { width = width }, over = { width = multiple }, at_most = 1.05,
    claim = string.format("a width of %d is no faster per flop than %d", width, multiple),
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
  columns = { "parameters", "test_accuracy", "test_accuracy_low", "test_accuracy_high" },
  trials = 6,
  -- Training for the accuracy takes as long as its epochs.
  seconds = function(point, measurement_s) return measurement_s + epochs * (point.family == "conv" and 0.5 or 0.1) end,
  run = function(point)
    return gb.device(point.device, function()
      local model = compiled(point)
      local row = gb.measure.training(model, gb.datasets.mnist("train"):shuffle(10000):batch(64, { drop_remainder = true }))
      row.parameters = model:count_params()
      row.test_accuracy = test_accuracy(point)
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "parameters", y = "test_accuracy", series = "family", log_x = 10 },
    gb.chart.line { x = "width", y = "flops_per_s", series = "family" },
  },
  expect = {
    no_less_accurate(8, 16), no_less_accurate(16, 33), no_less_accurate(32, 65),
    no_faster(33, 32), no_faster(65, 64),
  },
}
