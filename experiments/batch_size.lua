-- Why is the GPU not busy when it trains with a batch of 1?
--
-- Cause:  every step costs the same launches, updates and bookkeeping whatever the batch, so a batch that is too small
--         leaves the device idle between them.
-- Remedy: a larger batch, up to the knee where examples/s stops rising, or to the end of memory.
-- Claim:  examples/s rises with the batch until the knee, which is reported; no CPU or GPU reaches it before 64.
-- Chart:  examples/s over the batch, both logarithmic: a slope of 1 is free speed, flat is a busy device.
-- Model:  Dense(128, relu), Dense(10, softmax) on handwritten digits; Adam.
local gb = require "gpubench"

gb.experiment {
  name  = "batch_size",
  title = "A batch that is too small leaves the device idle",
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
    gb.expect.increasing { x = "batch_size", y = "examples_per_s", by = "device", to = 64 },
    gb.expect.knee { x = "batch_size", y = "examples_per_s", by = "device" },
  },
}
