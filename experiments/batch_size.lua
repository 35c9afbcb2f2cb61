local gb = require "gpubench"

gb.experiment {
  name  = "batch_size",
  topic = "launching",
  title = "A batch that is too small leaves the device idle",
  question = "Why is the GPU not busy when it trains with a batch of 1?",
  cause    = "Every step costs the same launches, updates and bookkeeping whatever the batch, so a batch that is "
    .. "too small leaves the device idle between them.",
  remedy   = "A larger batch, up to the knee where examples/s stops rising, or to the end of memory.",
  reading  = "All axes are logarithmic. Examples/s over the batch: along a slope of 1 a step takes the same time "
    .. "whatever its batch; where the line is flat the device is busy. Step time shows the same: flat first, then "
    .. "rising with the batch.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("batch_size", { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024 }),
  },
  run = function(point)
    return gb.device(point.device, function()
      local model = gb.Sequential {
        gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
        gb.layers.Dense(10, { activation = "softmax" }),
      }
      model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
      local train = gb.datasets.mnist("train")
      local input = train:shuffle(10000):batch(point.batch_size):prefetch(gb.AUTOTUNE)
      return gb.measure.training(model, input)
    end)
  end,
  charts = {
    gb.chart.line { x = "batch_size", y = "examples_per_s", series = "device", log_x = 2, log_y = 10 },
    gb.chart.line { x = "batch_size", y = "step_time_s", series = "device", log_x = 2, log_y = 10 },
  },
  expect = {
    -- On every CPU and GPU the knee is expected at 64 or later.
    gb.expect.increasing { x = "batch_size", y = "examples_per_s", by = "device", to = 64 },
    gb.expect.knee {
      x = "batch_size", y = "examples_per_s", by = "device",
      answer = "Use a batch of {x} or more: {times} the examples/s of batch {first}; beyond it at most "
        .. "a ninth is gained",
    },
  },
}
