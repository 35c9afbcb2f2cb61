-- Layers that are frozen, when they are made and later.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises = testing.case, testing.equal, testing.raises

local x, y = gb.random.uniform({ 24, 4 }, { seed = 1 }), gb.random.uniform({ 24, 2 }, { seed = 2 })

local function build(options)
  gb.config.set_seed(3)
  local model = gb.Sequential {
    gb.layers.Dense(8, { activation = "relu", input_shape = { 4 }, trainable = options and options.trainable }),
    gb.layers.BatchNormalization(),
    gb.layers.Dense(2),
  }
  model:compile { optimizer = "adam", loss = "mse", execution = options and options.execution }
  return model
end

local function layer_of(model, kind)
  for _, layer in ipairs(model.layers) do if layer.kind == kind then return layer end end
end

local function weights_of(layer)
  local values = {}
  for i, variable in ipairs(layer.variables) do values[i] = variable:to_table() end
  return testing.show(values)
end

for _, execution in ipairs { "graph", "eager" } do
  case("a layer frozen before training keeps its weights, " .. execution, function()
    local model = build { execution = execution }
    local dense = layer_of(model, "Dense")
    equal({ dense.trainable, #model.trainable_variables }, { true, 6 })
    dense.trainable = false
    equal({ dense.trainable, model.trainable, #model.trainable_variables }, { false, true, 4 })
    model(x)
    local before = weights_of(dense)
    local last = weights_of(model.layers[#model.layers])
    model:fit(x, y, { verbose = 0 })
    equal(weights_of(dense), before)
    testing.is_true(weights_of(model.layers[#model.layers]) ~= last, "the last layer learns")
    testing.contains(model:summary_text(), "not trainable: " .. 8 * 4 + 8 + 16)
  end)
end

case("frozen later and frozen when made train alike", function()
  local made, later = build { trainable = false }, build()
  layer_of(later, "Dense").trainable = false
  for _, model in ipairs { made, later } do model:fit(x, y, { epochs = 2, shuffle = false, verbose = 0 }) end
  for i, weight in ipairs(made:get_weights()) do
    equal(testing.show(later:get_weights()[i]:to_table()), testing.show(weight:to_table()))
  end
end)

case("after training a change takes another compile", function()
  local model = build()
  model:fit(x, y, { verbose = 0 })
  local dense = layer_of(model, "Dense")
  dense.trainable = false
  raises("layer '" .. dense.name
    .. "' was made not trainable after the model was compiled; compile it again", model.fit,
    model, x, y, { verbose = 0 })
  model:evaluate(x, y)
  model:compile { optimizer = "adam", loss = "mse" }
  local before = weights_of(dense)
  model:fit(x, y, { verbose = 0 })
  equal(weights_of(dense), before)
  dense.trainable = true
  raises("was made trainable after the model was compiled", model.fit, model, x, y, { verbose = 0 })
  dense.trainable = false
  model:fit(x, y, { verbose = 0 })
end)

case("a change in the midst of a fit is an error at the next size of batch", function()
  local model = build()
  raises("was made not trainable after the model was compiled", model.fit, model, x, y, {
    batch_size = 16, shuffle = false, verbose = 0,
    callbacks = { { on_batch_end = function() layer_of(model, "Dense").trainable = false end } },
  })
end)

case("a frozen batch normalization keeps its statistics", function()
  local model = build()
  local norm = layer_of(model, "BatchNormalization")
  norm.trainable = false
  model(x)
  local before = weights_of(norm)
  model:fit(x, y, { verbose = 0 })
  equal(weights_of(norm), before)
end)

case("a model is frozen as a whole, and has nothing to train then", function()
  local model = build()
  model.trainable = false
  equal({ model.trainable, #model.trainable_variables }, { false, 0 })
  raises("there are no trainable variables", model.fit, model, x, y, { verbose = 0 })
  model.trainable = true
  model:compile { optimizer = "adam", loss = "mse" }
  model:fit(x, y, { verbose = 0 })
  equal(model.trainable, true)
end)

case("a saved model has its frozen layers", function()
  local model = build()
  model(x)
  layer_of(model, "Dense").trainable = false
  local path = gb._native.options.out .. "/results/frozen"
  model:save(path)
  equal(layer_of(gb.load_model(path), "Dense").trainable, false)
end)

case("a loop by hand trains what is not frozen", function()
  local model, optimizer = build(), gb.optimizers.SGD { learning_rate = 0.1 }
  local dense = layer_of(model, "Dense")
  model(x)
  dense.trainable = false
  local before = weights_of(dense)
  local tape <close> = gb.tape()
  local loss = ((model(x, { training = true }) - y) ^ 2):mean()
  optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
  equal(weights_of(dense), before)
end)

case("only booleans decide", function()
  local dense = layer_of(build(), "Dense")
  for _, wrong in ipairs { 1, "false", {} } do
    testing.refuses(function() dense.trainable = wrong end)
  end
  testing.refuses(function() dense.trainable = nil end)
  equal(dense.trainable, true)
end)
