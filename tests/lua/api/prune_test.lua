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
  local decay = gb.prune.PolynomialDecay { initial_sparsity = 0.1, final_sparsity = 0.9, begin_step = 10,
    end_step = 20 }
  testing.equal({ decay:at(9), decay:at(20), decay:at(100) }, { 0.0, 0.9, 0.9 })
  testing.near(decay:at(10), 0.1, 1e-12)
  testing.near(decay:at(15), 0.9 - 0.8 / 8, 1e-12)
end)

testing.case("residuals of operators lose the same units", function()
  local x = gb.Input { 784 }
  local first = gb.layers.Dense(16, { activation = "relu", name = "first" })(x)
  local second = gb.layers.Dense(16, { name = "second" })(first)
  local function model(sum) return gb.Model { inputs = x, outputs = gb.layers.Dense(10, { name = "answers" })(sum) } end
  local residual = model((first + second):relu() * 2)
  local smaller = gb.prune.shrink(residual, { first = 0.5, second = 0.5 })
  testing.equal(smaller:count_params(), 784 * 8 + 8 + 8 * 8 + 8 + 8 * 10 + 10)
  testing.raises("joined, so that both lose the same units", gb.prune.shrink, residual, { first = 0.5, second = 0.25 })
  testing.raises("the units of layer 'second' must stay: layer 'softmax' (Lambda) mixes them", gb.prune.shrink,
    model(second:softmax()), { second = 0.5 })
  testing.raises("the units of layer 'answers' are the model's answers", gb.prune.shrink, residual, { answers = 0.5 })
end)

testing.case("a model with fewer units trains on and answers", function()
  local model = classifier()
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  model:fit(digits, { epochs = 2, verbose = 0 })
  local smaller = gb.prune.shrink(model, { hidden = 0.75 })
  testing.equal(smaller:count_params(), 784 * 4 + 4 + 4 * 10 + 10)
  testing.equal({ smaller.layers[1].name, model:count_params() }, { "hidden", 784 * 16 + 16 + 16 * 10 + 10 })
  smaller:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  local before = smaller:evaluate(digits).loss
  smaller:fit(digits, { epochs = 2, verbose = 0 })
  testing.is_true(smaller:evaluate(digits).loss < before, "learns on")
end)

testing.case("masks and steps go on in a resumed training", function()
  local file = gb._native.options.out .. "/results/pruned.safetensors"
  os.remove(file)
  local function train(epochs, options)
    gb.config.set_seed(4)
    local model = classifier()
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    local pruning = gb.prune.low_magnitude(model, {
      schedule = gb.prune.PolynomialDecay { final_sparsity = 0.75, end_step = 4, frequency = 2 },
    })
    options.epochs, options.verbose, options.callbacks, options.steps_per_epoch = epochs, 0, { pruning }, 2
    model:fit(digits, options)
    return pruning, model
  end
  train(3, { resume = file })
  local pruning, resumed = train(4, { resume = file })
  local _, whole = train(4, {})
  testing.equal(pruning:sparsity(), 0.75)
  for i, weights in ipairs(whole:get_weights()) do
    testing.is_true((weights - resumed:get_weights()[i]):abs():max():item() < 1e-6, "weights " .. i)
  end
end)

testing.case("the first step prunes unless another one is named", function()
  local model = classifier()
  local pruning = gb.prune.low_magnitude(model, { schedule = gb.prune.ConstantSparsity { target_sparsity = 0.5 } })
  pruning:step()
  testing.equal(pruning:sparsity(), 0.5)
  testing.raises("call it after the function that gb.compile made", gb.compile(function() pruning:step() end))
end)

testing.case("mistakes are named", function()
  local other, unpruned = classifier(), classifier()
  other:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
  local pruning = gb.prune.low_magnitude(unpruned, { schedule = gb.prune.ConstantSparsity { target_sparsity = 0.5 } })
  testing.raises("this pruning is of model", other.fit, other, digits, { callbacks = { pruning }, verbose = 0 })
  testing.raises("option 'layers': at least one name is expected", gb.prune.low_magnitude, other,
    { schedule = gb.prune.ConstantSparsity { target_sparsity = 0.5 }, layers = {} })
  testing.raises("PolynomialDecay: power must be above 0, got -1", gb.prune.PolynomialDecay,
    { final_sparsity = 0.5, end_step = 2, power = -1 })
  testing.equal(gb.prune.shrink(gb.Sequential {
    gb.layers.Dense(100, { input_shape = { 2 }, name = "wide" }), gb.layers.Dense(1),
  }, { wide = 0.29 }):count_params(), 71 * 3 + 72)
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
