local gb = require "gpubench"

-- The two settings: each is what it changes in the call of compile below, and nothing else differs.
local settings = {
  before = { execution = "eager" },
  after = { execution = "graph" },
}

gb.experiment {
  name  = "NAME",
  title = "What this shows, in a sentence",

  -- The first screen of the report; all of them may be left out.
  question = "Is the new setting faster?",
  cause    = "Why it may be.",
  remedy   = "What to write, if it is.",
  reading  = "Step time of both; bars are 95 % intervals. Where they overlap, nothing is proven.",

  -- Both are measured in turn, so that a load that comes and goes meets both.
  axes = { gb.axis("setting", { "before", "after" }, { closed = true }) },

  run = function(point)
    local model = gb.Sequential {
      gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    model:compile {
      optimizer = "adam", loss = "categorical_crossentropy", execution = settings[point.setting].execution,
    }
    return gb.measure.training(model, gb.datasets.mnist("train"):batch(32):prefetch(gb.AUTOTUNE))
  end,

  charts = { gb.chart.bar { x = "setting", y = "step_time_s" } },
  expect = {
    gb.expect.faster {
      axis = "setting", value = "after", than = "before", y = "step_time_s",
      answer = "Take the new setting: {times} as fast",
    },
  },
}
