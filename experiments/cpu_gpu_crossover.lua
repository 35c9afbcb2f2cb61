-- How small a model is too small for a GPU?
--
-- Cause:  a step of a small model is over before its launches and copies are paid for, so the GPU loses to the CPU.
-- Remedy: train on the CPU below the crossover, on the GPU above it; a larger batch moves the crossover to smaller models.
-- Claim:  as the layers grow, the step on the GPU falls below that on the CPU once, between two widths that are reported.
-- Chart:  step time over the width of the layers, one line for each device and batch; the lines of a batch cross.
-- Model:  2 x Dense(width, relu), Dense(10, softmax) on handwritten digits; Adam.
-- A width counts for a device where the 95 % intervals of the two step times are apart; between the two reported widths
-- they are not. Without a GPU the CPU's times are measured all the same, and where they cross is not measurable.
local gb = require "gpubench"

local gpu, cpu = "gpu:0", "cpu:0"

gb.experiment {
  name  = "cpu_gpu_crossover",
  title = "Below a crossover in size the CPU is faster than the GPU",
  axes  = {
    gb.axis("device", { gpu, cpu }),
    gb.axis("batch_size", { 16, 256 }),
    gb.axis("width", { 8, 16, 32, 64, 128, 256, 512, 1024, 2048 }),
  },
  skip = function(point)
    if point.device == gpu and #gb.config.list_physical_devices("GPU") == 0 then return "there is no GPU here" end
  end,
  run = function(point)
    return gb.device(point.device, function()
      local model = gb.Sequential {
        gb.layers.Dense(point.width, { activation = "relu", input_shape = { 784 } }),
        gb.layers.Dense(point.width, { activation = "relu" }),
        gb.layers.Dense(10, { activation = "softmax" }),
      }
      model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
      local input = gb.datasets.mnist("train"):batch(point.batch_size, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
      return gb.measure.training(model, input)
    end)
  end,
  charts = {
    gb.chart.line { x = "width", y = "step_time_s", series = { "device", "batch_size" }, log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.crossover {
      x = "width", y = "step_time_s", of = { device = gpu }, over = { device = cpu }, by = "batch_size",
    },
  },
}
