local gb = require "gpubench"

local epochs = gb.param("epochs", gb.quick and 1 or 3)

gb.experiment {
  name  = "NAME",
  title = "What this shows, in a sentence",

  -- The first screen of the report; all of them may be left out.
  question = "Which value learns best in the same number of epochs?",
  cause    = "Why it matters.",
  remedy   = "What to do about it.",
  reading  = "Accuracy on test data over the value; bars are 95 % intervals over trials with other seeds.",

  -- Override from the command line: gpubench NAME.lua --set learning_rate=0.01 --set epochs=5
  axes = { gb.axis("learning_rate", { 0.0001, 0.001, 0.01 }) },

  -- Each point is trained so many times, with other seeds: what is learned depends on the seed.
  trials = 6,

  columns = { "val_accuracy", "val_loss" },
  run = function(point)
    local digits, test = gb.datasets.mnist "train", gb.datasets.mnist "test"
    if gb.quick then digits, test = digits:take(1000), test:take(500) end
    local model = gb.Sequential {
      gb.layers.Dense(64, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    model:compile {
      optimizer = gb.optimizers.Adam { learning_rate = point.learning_rate },
      loss = "categorical_crossentropy", metrics = { "accuracy" },
    }
    model:fit(digits:shuffle(8000):batch(64):prefetch(gb.AUTOTUNE), { epochs = epochs, verbose = 0 })
    -- Judged on data that was not trained on.
    local figures = model:evaluate(test:batch(256))
    return { val_accuracy = figures.accuracy, val_loss = figures.loss }
  end,

  charts = { gb.chart.line { x = "learning_rate", y = "val_accuracy", log_x = 10 } },
  expect = {
    gb.expect.ratio {
      y = "val_accuracy", of = { learning_rate = 0.001 }, over = { learning_rate = 0.0001 }, at_least = 1,
      answer = "Use a learning rate of 0.001: {times} the accuracy of 0.0001",
    },
  },
}
