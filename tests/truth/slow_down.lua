-- Is a step that takes a little longer seen, and is a difference called where there is none?
--
-- A busy wait of known length, a share of the step's own time, follows every training step of M2 (three wide dense
-- layers) and of M3 (a small convolution net). `slower_share` 0 is measured twice, as two values of `twin`: whatever
-- is called between them is an error.
local gb = require "gpubench"

local share = gb.quick and 0.1 or 0.03
local called = 0.01  -- what a difference must exceed, with its whole interval, to be called
local digits = gb.datasets.mnist "train"

local models = {
  M2 = function()
    return gb.Sequential {
      gb.layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(512, { activation = "relu" }),
      gb.layers.Dense(512, { activation = "relu" }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
  end,
  M3 = function()
    return gb.Sequential {
      gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
      gb.layers.Conv2D(16, 3, { activation = "relu" }),
      gb.layers.MaxPooling2D(2),
      gb.layers.Flatten(),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
  end,
}

local function make_step(name)
  local model = models[name]()
  local loss_function, optimizer = gb.losses.CategoricalCrossentropy(), gb.optimizers.SGD { learning_rate = 0.01 }
  return gb.compile(function(images, labels)
    local tape <close> = gb.tape()
    local loss = loss_function(labels, model(images, { training = true }))
    optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
    return loss
  end)
end

local function batches() return digits:batch(64, { drop_remainder = true }):repeated() end

-- Seconds of a step without the wait, measured once, so that the wait is the same in all points.
local own_time = {}

local function time_of(name)
  if not own_time[name] then
    own_time[name] = gb.measure.loop(make_step(name), batches(), { budget = 1 }).step_time_s
  end
  return own_time[name]
end

gb.experiment {
  name  = "slow_down",
  title = "A step that takes a little longer",
  axes  = {
    gb.axis("model", { "M2", "M3" }, { closed = true }),
    gb.axis("twin", { "first", "second", "slower" }, { closed = true }),
  },
  run = function(point)
    local wait_s = point.twin == "slower" and share * time_of(point.model) or 0
    local step = make_step(point.model)
    return gb.measure.loop(function(images, labels)
      local loss = step(images, labels)
      if wait_s > 0 then
        local ends = gb.clock() + wait_s
        while gb.clock() < ends do end
      end
      return loss
    end, batches())
  end,
  expect = {
    gb.expect.ratio {
      y = "step_time_s", of = { twin = "slower" }, over = { twin = "first" }, where = { model = "M2" },
      at_least = 1 + called,
      claim = "M2: the slow-down is seen",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { twin = "slower" }, over = { twin = "first" }, where = { model = "M3" },
      at_least = 1 + called,
      claim = "M3: the slow-down is seen",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { twin = "second" }, over = { twin = "first" }, where = { model = "M2" },
      at_least = 1 - called, at_most = 1 + called, claim = "M2: no difference is called between equal points",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { twin = "second" }, over = { twin = "first" }, where = { model = "M3" },
      at_least = 1 - called, at_most = 1 + called, claim = "M3: no difference is called between equal points",
    },
  },
}
