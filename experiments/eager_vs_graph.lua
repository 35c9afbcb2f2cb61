-- What does eager execution cost, and when does it matter?
--
-- Cause:  eager execution meets one op after the other: it looks up a kernel, takes memory and launches, each time.
-- Remedy: graph execution: fused, planned once, nothing left to do in a step but launch.
-- Claim:  the graph is faster; its gain shrinks as the layers, and with them the kernels, grow.
-- Chart:  step time over the width of the layers, eager and graph.
-- Model:  `depth` x Dense(width, relu), Dense(10, softmax); Adam; batch 32.
local gb = require "gpubench"

gb.experiment {
  name  = "eager_vs_graph",
  title = "Eager execution pays for every op; a graph pays once",
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
    },
    gb.expect.decreasing {
      x = "width", y = "step_time_s", of = { execution = "eager" }, over = { execution = "graph" }, tolerance = 0.1,
      claim = "the gain shrinks as the layers grow",
    },
  },
}
