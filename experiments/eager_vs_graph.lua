local gb = require "gpubench"

gb.experiment {
  name  = "eager_vs_graph",
  topic = "launching",
  title = "Eager execution pays for every op; a graph pays once",
  question = "What does eager execution cost, and when does it matter?",
  cause    = "Eager execution handles each op by itself, in every step again: it looks up a kernel, takes memory "
    .. "and launches. For small layers this can take longer than the kernel.",
  remedy   = "Graph execution: ops are fused and planned once, so that a step only has to launch them.",
  reading  = "Step time over the width of the layers, both logarithmic: the gap between the two lines is what "
    .. "eager execution costs; it narrows as the kernels grow.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("depth", { 2, 8 }),
    gb.axis("width", { 32, 128, 512, 1024 }),
    gb.axis("execution", { "eager", "graph" }),
  },
  run = function(point)
    return gb.device(point.device, function()
      local layers = { gb.layers.Dense(point.width, { activation = "relu", input_shape = { 784 } }) }
      for _ = 2, point.depth do
        layers[#layers + 1] = gb.layers.Dense(point.width, { activation = "relu" })
      end
      layers[#layers + 1] = gb.layers.Dense(10, { activation = "softmax" })
      local model = gb.Sequential(layers)
      model:compile {
        optimizer = "adam", loss = "categorical_crossentropy", execution = point.execution,
      }
      local input = gb.datasets.mnist("train"):batch(32, { drop_remainder = true })
      return gb.measure.training(model, input)
    end)
  end,
  charts = {
    gb.chart.line { x = "width", y = "step_time_s", series = "execution", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "step_time_s", of = { execution = "graph" }, over = { execution = "eager" }, at_most = 1,
      claim = "a planned graph is never slower than eager execution",
      answer = "Run the model as a graph: a step takes {less} less time than eagerly",
    },
    gb.expect.decreasing {
      x = "width", y = "step_time_s", of = { execution = "eager" }, over = { execution = "graph" }, tolerance = 0.1,
      claim = "the gain shrinks as the layers grow",
      answer = "The gain shrinks as the layers grow: an eager step takes {over} times as long at width {first}, {of} "
        .. "times at width {x}",
    },
  },
}
