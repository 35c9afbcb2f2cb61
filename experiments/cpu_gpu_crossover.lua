local gb = require "gpubench"

-- Where no GPU is, one is emulated, and the rows and the answer say so.
local gpu, cpu = gb.config.list_physical_devices("GPU")[1] or "emulated:h200:0", "cpu:0"

gb.experiment {
  name  = "cpu_gpu_crossover",
  topic = "devices",
  needs = "a GPU, or emulates one",
  title = "Below a crossover in size the CPU is faster than the GPU",
  question = "How small a model is too small for a GPU?",
  cause    = "Each kernel on a GPU takes some microseconds however little it computes, and each step copies its batch. "
    .. "A small model computes too little to make up for that, so the CPU is faster.",
  remedy   = "Train on the CPU below the crossover, on the GPU above it; a larger batch moves the crossover to "
    .. "smaller models.",
  reading  = "Step time over the width of the layers, both logarithmic, one line for each device and batch. The "
    .. "two lines of a batch cross where the GPU becomes faster than the CPU.",
  axes  = {
    gb.axis("device", { gpu, cpu }),
    gb.axis("batch_size", { 16, 256 }),
    gb.axis("width", { 8, 16, 32, 64, 128, 256, 512, 1024, 2048 }),
  },
  run = function(point)
    return gb.device(point.device, function()
      local model = gb.Sequential {
        gb.layers.Dense(point.width, { activation = "relu", input_shape = { 784 } }),
        gb.layers.Dense(point.width, { activation = "relu" }),
        gb.layers.Dense(10, { activation = "softmax" }),
      }
      model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
      -- One batch that lies ready in the host's memory: each step copies it to a GPU, and waits for no pipeline.
      local images, labels = gb.datasets.mnist("train"):batch(point.batch_size):iter()()
      return gb.measure.training(model, gb.data.Dataset.from_tensors({ images, labels }):repeated())
    end)
  end,
  charts = {
    gb.chart.line { x = "width", y = "step_time_s", series = { "device", "batch_size" }, log_x = 2, log_y = 10 },
  },
  expect = {
    -- A width counts for a device where the two step times differ beyond their 95 % intervals. Widths between the two
    -- that are reported count for none.
    gb.expect.crossover {
      x = "width", y = "step_time_s", of = { device = gpu }, over = { device = cpu }, by = "batch_size",
      answer = "Train a model of two such layers on the CPU up to width {first}, on the GPU from width {x} on; the "
        .. "widths between make no clear difference",
    },
  },
}
