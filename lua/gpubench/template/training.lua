local gb = require "gpubench"

gb.experiment {
  name  = "NAME",
  title = "What this shows, in a sentence",

  -- The first screen of the report; all of them may be left out.
  question = "What do you want to know?",
  cause    = "Why it costs time or memory.",
  remedy   = "What to do about it.",
  reading  = "What the chart shows when the claim holds.",

  -- The sweep goes through all combinations, the last axis fastest. Override from the command line:
  --   gpubench NAME.lua --set batch_size=8,512 --device cpu:0 --quick
  axes = {
    gb.axis("device", gb.devices()),
    gb.axis("batch_size", { 1, 32, 128 }),
  },

  -- Measures one point and returns its row. Everything made here is freed afterwards. gb.skip("reason") leaves a point
  -- out.
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

  -- Drawn by gnuplot into plots/NAME/.
  charts = {
    gb.chart.line { x = "batch_size", y = "examples_per_s", series = "device", log_x = 2 },
  },

  -- Checked after the sweep: confirmed, refuted, or open (inconclusive, not measurable here) with the reason.
  expect = {
    gb.expect.increasing {
      x = "batch_size", y = "examples_per_s", by = "device",
      answer = "A batch of {x} does {times} the examples/s of batch {first}",
    },
  },
}
