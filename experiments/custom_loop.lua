local gb = require "gpubench"

local function make_model(width)
  return gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

-- One step of the loop as it is written by hand: predictions inside a tape, loss, gradients, update.
local function make_step(model)
  local loss_function = gb.losses.CategoricalCrossentropy()
  local optimizer = gb.optimizers.Adam { learning_rate = 0.001 }
  return function(images, labels)
    local tape <close> = gb.tape()
    local predictions = model(images, { training = true })
    local loss = loss_function(labels, predictions)
    local gradients = tape:gradient(loss, model.trainable_variables)
    optimizer:apply_gradients(gradients, model.trainable_variables)
    return loss
  end
end

-- The loss of the first test digits, so that all styles are held against the same examples.
local function test_loss(model)
  for images, labels in gb.datasets.mnist("test"):batch(1000):take(1):iter() do
    return gb.losses.CategoricalCrossentropy()(labels, model(images)):item()
  end
end

gb.experiment {
  name  = "custom_loop",
  topic = "launching",
  title = "A loop written by hand is slow until it is compiled",
  question = "What does a training loop written by hand cost, and what does compiling it give back?",
  cause    = "A loop with a gradient tape runs one op after the other and interprets Lua between them, in every "
    .. "step again.",
  remedy   = "Compile the function of a step with gb.compile: it is traced once into a plan, and its ops need no "
    .. "Lua in later steps.",
  reading  = "Step time by kind of loop: compiled_tape should be below tape and close to fit. Loss after 100 "
    .. "steps by kind of loop: bars of a width are equal where all loops compute the same.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("width", { 128, 1024 }),
    gb.axis("loop", { "tape", "compiled_tape", "fit" }),
  },
  columns = { gb.column("loss_after_100_steps", { kind = "counted" }) },
  run = function(point)
    gb.config.set_seed(1)
    return gb.device(point.device, function()
      local model = make_model(point.width)
      local input = gb.datasets.mnist("train"):shuffle(10000, { seed = 1 }):batch(32, { drop_remainder = true })
      local first_steps, row = input:take(100)
      if point.loop == "fit" then
        model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.001 }, loss = "categorical_crossentropy" }
        model:fit(first_steps, { epochs = 1, verbose = 0 })
        local loss = test_loss(model)
        row = gb.measure.training(model, input)
        row.loss_after_100_steps = loss
        return row
      end
      local step = make_step(model)
      if point.loop == "compiled_tape" then step = gb.compile(step) end
      for images, labels in first_steps:iter() do step(images, labels) end
      local loss = test_loss(model)
      row = gb.measure.loop(step, input)
      row.loss_after_100_steps = loss
      return row
    end)
  end,
  charts = {
    gb.chart.bar { x = "loop", y = "step_time_s", series = "width" },
    gb.chart.bar { x = "loop", y = "loss_after_100_steps", series = "width" },
  },
  expect = {
    gb.expect.equal {
      x = "loop", y = "loss_after_100_steps", tolerance = 0.001, claim = "all three loops compute the same",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { loop = "compiled_tape" }, over = { loop = "tape" }, at_most = 1,
      claim = "the compiled loop is faster than the same loop run op by op",
      answer = "Compile a loop written by hand: a step takes {less} less time than op by op",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { loop = "compiled_tape" }, over = { loop = "fit" }, at_most = 1.25,
      claim = "the compiled loop is within 25 % of fit's own step",
      answer = "A step of the compiled loop takes {times} the time of a step of model:fit",
    },
  },
}
