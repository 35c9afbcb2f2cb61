local gb = require "gpubench"

-- A step of a training loop that is written by hand: predictions inside a tape, loss, gradients, update.
local function make_step(model)
  local loss_function = gb.losses.CategoricalCrossentropy()
  local optimizer = gb.optimizers.Adam { learning_rate = 0.001 }
  return function(images, labels)
    local tape <close> = gb.tape()
    local loss = loss_function(labels, model(images, { training = true }))
    optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss  -- its last value is the column last_loss
  end
end

gb.experiment {
  name  = "NAME",
  title = "What this shows, in a sentence",

  -- The first screen of the report; all of them may be left out.
  question = "What does it gain to compile the step?",
  cause    = "An eager step runs one op after the other, with Lua between them.",
  remedy   = "local step = gb.compile(step)",
  reading  = "Step time of both; bars are 95 % intervals.",

  -- Override from the command line: gpubench NAME.lua --set step=compiled --device cpu:0
  axes = { gb.axis("step", { "eager", "compiled" }, { closed = true }) },

  run = function(point)
    local model = gb.Sequential {
      gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    local step = make_step(model)
    -- Traced once for each size of batch, so the last batch of an epoch must not be smaller.
    if point.step == "compiled" then step = gb.compile(step) end
    local input = gb.datasets.mnist("train"):shuffle(8000):batch(32, { drop_remainder = true }):prefetch(gb.AUTOTUNE)
    return gb.measure.loop(step, input)
  end,

  charts = { gb.chart.bar { x = "step", y = "step_time_s" } },
  expect = {
    gb.expect.faster {
      axis = "step", value = "compiled", than = "eager", y = "step_time_s",
      answer = "Compile the step: {times} as fast",
    },
  },
}
