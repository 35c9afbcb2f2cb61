-- gb.losses.Distillation: in fit and in loops written by hand.
local gb = require "gpubench"
local testing = require "testing"

local function classifier(width)
  return gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

local digits = gb.datasets.mnist("train"):take(320):batch(32)
local teacher = classifier(32)
teacher:compile { optimizer = "adam", loss = "categorical_crossentropy" }
teacher:fit(digits, { epochs = 3, verbose = 0 })

testing.case("a loop written by hand, compiled or not, learns as fit does", function()
  local loss = gb.losses.Distillation { teacher = teacher, temperature = 2, weight = 0.8 }
  local results = {}
  for index, style in ipairs { "fit", "eager", "compiled" } do
    gb.config.set_seed(7)
    local student, optimizer = classifier(8), gb.optimizers.SGD { learning_rate = 0.1 }
    if style == "fit" then
      student:compile { optimizer = optimizer, loss = loss, metrics = { "accuracy" } }
      student:fit(digits, { verbose = 0 })
    else
      local function step(x, y)
        local tape <close> = gb.tape()
        local value = loss(y, student(x, { training = true }), x)
        local variables = student.trainable_variables
        optimizer:apply_gradients(tape:gradient(value, variables), variables)
        return value
      end
      if style == "compiled" then step = gb.compile(step) end
      for x, y in digits:iter() do step(x, y) end
    end
    for x, y in digits:take(1):iter() do results[index] = loss(y, student(x), x):item() end
  end
  testing.near(results[2], results[1], 1e-4)
  testing.near(results[3], results[1], 1e-4)
end)

testing.case("a teacher outlives the script's handle of it", function()
  local loss = gb.losses.Distillation { teacher = classifier(16) }
  collectgarbage()
  for x, y in digits:take(1):iter() do testing.is_true(loss(y, teacher(x), x):item() > 0, "loss") end
end)

testing.case("logits are logits for the labels too", function()
  local logits = gb.losses.Distillation { teacher = teacher, from_logits = true, weight = 0 }
  local labels = gb.losses.CategoricalCrossentropy { from_logits = true }
  for x, y in digits:take(1):iter() do
    testing.near(logits(y, teacher(x), x):item(), labels(y, teacher(x)):item(), 1e-6)
  end
end)

testing.case("mistakes are named", function()
  local loss = gb.losses.Distillation { teacher = teacher }
  testing.raises("its loss on the labels cannot be a distillation itself", gb.losses.Distillation,
    { teacher = teacher, loss = loss })
  testing.raises("its loss on the labels must have the reduction 'sum_over_batch_size'", gb.losses.Distillation,
    { teacher = teacher, loss = gb.losses.CategoricalCrossentropy { reduction = "sum" } })
  testing.equal(loss.name, "distillation")
  for x, y in digits:take(1):iter() do
    testing.raises("the teacher needs the model's inputs: loss(labels, predictions, inputs)", loss, y, teacher(x))
    testing.raises("sample weights: one number per example is expected", gb.losses.MeanSquaredError(), y, teacher(x), x)
  end
  testing.raises("temperature must be above 0 and at most 1e+06, got -1", gb.losses.Distillation,
    { teacher = teacher, temperature = -1 })
  testing.raises("weight must be a share from 0 to 1, got 2", gb.losses.Distillation, { teacher = teacher, weight = 2 })
  testing.raises("teacher", gb.losses.Distillation, {})
  testing.raises("has no weights yet", gb.losses.Distillation, { teacher = gb.Sequential { gb.layers.Dense(10) } })
end)
