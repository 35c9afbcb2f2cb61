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

-- Accuracy of another model than the one whose speed is measured: a fresh one, trained for a set number of epochs on
-- the same digits in the same order as all others; each of the six trials has its own seed, and so its own weights.
local function test_accuracy(point)
  local model = compiled(point)
  model:fit(gb.datasets.mnist("train"):shuffle(10000, { seed = 1 }):batch(64), { epochs = epochs, verbose = 0 })
  return model:evaluate(gb.datasets.mnist("test"):batch(250)).accuracy
end

-- Widths at which both families have nearly as many parameters: 13, 27 and 54 thousand.
local function no_less_accurate(conv, dense_width, answer)
  return gb.expect.ratio {
    y = "test_accuracy", of = { family = "conv", width = conv }, over = { family = "dense", width = dense_width },
    at_least = 0.99,
    claim = string.format("convolution of width %d is as accurate as dense layers of width %d", conv, dense_width),
    answer = answer,
  }
end

local gpus = gb.config.list_physical_devices "GPU"

-- Of the first device. A CPU's vectors are so short that the rest of a width costs less than times scatter.
local function no_faster(width, multiple, answer)
  return gb.expect.ratio {
    y = "flops_per_s", of = { width = width }, over = { width = multiple }, at_most = 1.05,
    where = { device = gb.devices()[1] },
    unmeasurable = #gpus == 0 and "there is no GPU here, whose tensor cores work in tiles" or nil,
    claim = string.format("a width of %d is no faster per flop than %d", width, multiple),
    answer = answer,
  }
end

gb.experiment {
  name  = "architecture",
  topic = "models",
  title = "Layers that fit the data and the hardware",
  question = "Do the kind of layers and their width decide how well parameters and hardware are used?",
  cause    = "A dense layer on an image has a weight for every pixel and unit, where a convolution shares a few. "
    .. "A width just past a multiple of the vector or tile size leaves part of the last vector or tile without "
    .. "work.",
  remedy   = "Convolution and pooling for images; widths that are multiples of the vector or tile size.",
  reading  = "Accuracy over the number of parameters: the upper line makes more of its parameters. Flops per "
    .. "second over the width: on a GPU a dip just past a multiple of 8 (33, 65) is the cost of a width that does not "
    .. "fit the hardware.",
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
      local row = gb.measure.training(model,
        gb.datasets.mnist("train"):shuffle(10000):batch(64, { drop_remainder = true }))
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
    no_less_accurate(32, 65, "Use convolution for images: with width 32 it reaches {times} the accuracy of dense "
      .. "layers of width 65 that have as many parameters ({of} instead of {over})"),
    no_less_accurate(16, 33, "With half as many parameters it reaches {times} the accuracy ({of} instead of {over})"),
    no_less_accurate(8, 16),
    no_faster(33, 32),
    no_faster(65, 64,
      "Choose widths that are multiples of 8: a width of 65 computes at {times} the flops/s of width 64"),
  },
}
