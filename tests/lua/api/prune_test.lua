-- gb.prune: pruning beside fit and in loops written by hand, and models with fewer units.
local gb = require "gpubench"
local testing = require "testing"

local function classifier()
  return gb.Sequential {
    gb.layers.Dense(16, { activation = "relu", input_shape = { 784 }, name = "hidden" }),
    gb.layers.Dense(10, { activation = "softmax", name = "answers" }),
  }
end

local digits = gb.datasets.mnist("train"):take(320):batch(32)

local function zeros(tensor)
  return tensor:eq(0):cast("float32"):mean():item()
end

testing.case("beside fit, and together with other callbacks", function()
  local model, epochs = classifier(), 0
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  local pruning = gb.prune.low_magnitude(model, {
    schedule = gb.prune.PolynomialDecay { final_sparsity = 0.5, begin_step = 2, end_step = 6, frequency = 2 },
  })
  model:fit(digits, { verbose = 0, callbacks = { pruning, { on_epoch_end = function() epochs = epochs + 1 end } } })
  testing.equal({ pruning:sparsity(), epochs }, { 0.5, 1 })
  testing.equal(zeros(model.variables[1]), 0.5)
  testing.is_true(zeros(model.variables[3]) < 0.5, "the answers' layer is left alone")
end)

testing.case("in a loop written by hand, on layers by name", function()
  local model, optimizer, loss = classifier(), gb.optimizers.Adam(), gb.losses.CategoricalCrossentropy()
  local pruning = gb.prune.low_magnitude(model, {
    schedule = gb.prune.ConstantSparsity { target_sparsity = 0.25, frequency = 1 }, layers = { "answers" },
  })
  for x, y in digits:iter() do
    local tape <close> = gb.tape()
    local value = loss(y, model(x, { training = true }))
    optimizer:apply_gradients(tape:gradient(value, model.trainable_variables), model.trainable_variables)
    pruning:step()
    testing.equal(pruning:sparsity(), 0.25)
  end
  testing.equal(zeros(model.variables[3]), 0.25)
end)

testing.case("schedules tell their shares", function()
  local decay = gb.prune.PolynomialDecay { initial_sparsity = 0.1, final_sparsity = 0.9, begin_step = 10, end_step = 20 }
  testing.equal({ decay:at(9), decay:at(20), decay:at(100) }, { 0.0, 0.9, 0.9 })
  testing.near(decay:at(10), 0.1, 1e-12)
  testing.near(decay:at(15), 0.9 - 0.8 / 8, 1e-12)
end)

testing.case("a model with fewer units trains on and answers", function()
  local model = classifier()
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  model:fit(digits, { epochs = 2, verbose = 0 })
  local smaller = gb.prune.shrink(model, { hidden = 0.75 })
  testing.equal(smaller:count_params(), 784 * 4 + 4 + 4 * 10 + 10)
  testing.equal({ smaller.layers[2].name, model:count_params() }, { "hidden", 784 * 16 + 16 + 16 * 10 + 10 })
  smaller:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  local before = smaller:evaluate(digits).loss
  smaller:fit(digits, { epochs = 2, verbose = 0 })
  testing.is_true(smaller:evaluate(digits).loss < before, "learns on")
end)

testing.case("mistakes are named", function()
  local model, constant = classifier(), gb.prune.ConstantSparsity
  testing.raises("ConstantSparsity: a sparsity must be a share of at least 0 and below 1, got 1", constant,
    { target_sparsity = 1 })
  testing.raises("PolynomialDecay: steps must begin at 0 or later and end behind that, got 8 to 8",
    gb.prune.PolynomialDecay, { final_sparsity = 0.5, begin_step = 8, end_step = 8 })
  testing.raises("schedule", gb.prune.low_magnitude, model, {})
  testing.raises("has no layer 'hiden'", gb.prune.low_magnitude, model,
    { schedule = constant { target_sparsity = 0.5 }, layers = { "hiden" } })
  testing.raises("has no Dense or Conv2D layer 'hiden'", gb.prune.shrink, model, { hiden = 0.5 })
  testing.raises("are the model's answers; they all stay", gb.prune.shrink, model, { answers = 0.5 })
end)
