local gb = require "gpubench"

gb.experiment {
  name  = "NAME",
  title = "What this shows, in a sentence",

  -- The first screen of the report; all of them may be left out.
  question = "Which batch answers fast enough, and how many examples a second is that?",
  cause    = "A larger batch uses the device better, and every answer waits for the whole batch.",
  remedy   = "Choose the largest batch whose 99th percentile is short enough.",
  reading  = "Latency and rate over the batch.",

  -- Override from the command line: gpubench NAME.lua --set batch=1,16 --device cpu:0
  axes = { gb.axis("batch", { 1, 8, 64 }) },

  -- The weights do not matter for the time. To measure your own model: gb.load_model(path), or
  -- model:load_weights { path, layout = "torch" }.
  run = function(point)
    local model = gb.Sequential {
      gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    return gb.measure.inference(model, { batch = point.batch, input = gb.datasets.mnist "test" })
  end,

  charts = {
    gb.chart.line { x = "batch", y = "latency_s", log_x = 2, log_y = 10 },
    gb.chart.line { x = "batch", y = "examples_per_s", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { batch = 64 }, over = { batch = 1 }, at_least = 2,
      answer = "For throughput answer in batches of 64: {times} the examples/s of single ones",
    },
  },
}
