-- Sequential models that change, and weights by layer.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises, near = testing.case, testing.equal, testing.raises, testing.near

local function dense(units, options) return gb.layers.Dense(units, options) end
local x, y = gb.random.uniform({ 8, 4 }, { seed = 1 }), gb.random.uniform({ 8, 2 }, { seed = 2 })

case("layers are added one after the other", function()
  local model = gb.Sequential()
  raises("model 'sequential': it has no layers yet; add some by model:add(layer)", model, x)
  model:add(gb.Input { 4 })
  raises("it has no layers yet", model, x)
  model:add(dense(3, { activation = "tanh" }))
  model:add(dense(2))
  equal(#model.layers, 2)
  equal(model.layers[2].name, "dense_1")
  gb.config.set_seed(4)
  local added = gb.Sequential()
  for _, layer in ipairs { gb.Input { 4 }, dense(3), dense(2) } do added:add(layer) end
  gb.config.set_seed(4)
  local at_once = gb.Sequential { gb.Input { 4 }, dense(3), dense(2) }
  equal(testing.show(added(x):to_table()), testing.show(at_once(x):to_table()))
end)

case("a chain without an Input gets its shape from data, and keeps it", function()
  local model = gb.Sequential()
  model:add(dense(3))
  model(x)
  local first = model.layers[1].variables[1]
  model:add(dense(2))
  equal(model.layers[1].variables[1] == first, true)
  equal(model:count_params(), 4 * 3 + 3 + 3 * 2 + 2)
end)

case("a compiled model stays compiled", function()
  local model = gb.Sequential { dense(3, { input_shape = { 4 } }) }
  model:compile { optimizer = "adam", loss = "mse" }
  model:add(dense(2))
  model:fit(x, y, { verbose = 0 })
  model:add(dense(2))
  local history = model:fit(x, y, { verbose = 0, epochs = 2 })
  equal(#history.history.loss, 2)
  equal(#model:predict(x):to_table()[1], 2)
end)

case("pop takes the last part away", function()
  local model = gb.Sequential { dense(3, { input_shape = { 4 } }), dense(2) }
  local hidden = model.layers[1]
  local last = model:pop()
  equal(last.kind, "Dense")
  equal(#model.layers, 1)
  equal(model(x).shape[2], 3)
  equal(model.layers[1] == hidden, true)
  model:add(dense(5))
  equal(model(x).shape[2], 5)
  local inner = gb.Sequential { dense(2) }
  model:add(inner)
  equal(model:pop() == inner, true)
  model:pop()
  model:pop()
  raises("Model:pop: model 'sequential' has no layers", model.pop, model)
end)

case("functional models in a chain, and loaded chains", function()
  local input = gb.Input { 3 }
  local residual = gb.Model { inputs = input, outputs = dense(3)(input) + input }
  local model = gb.Sequential { gb.Input { 4 }, dense(3) }
  model:add(residual)
  model:add(dense(2))
  equal(model(x).shape[2], 2)
  raises("Model:add: model 'model' is no Sequential", residual.add, residual, dense(2))
  local path = gb._native.options.out .. "/results/chain"
  gb.Sequential({ dense(3, { input_shape = { 4 } }) }):save(path)
  local loaded = gb.load_model(path)
  loaded:add(dense(2))
  equal(loaded(x).shape[2], 2)
end)

case("what does not fit is refused, and the model stays as it was", function()
  local model = gb.Sequential { dense(3, { input_shape = { 4 } }) }
  raises("expects [height, width, channels] per example", model.add, model, gb.layers.Conv2D(2, 3))
  equal(#model.layers, 1)
  raises("two layers are named 'a'", function()
    for _ = 1, 2 do model:add(dense(3, { name = "a" })) end
  end)
  raises("Input must be the first layer", model.add, model, gb.Input { 4 })
  equal(model(x).shape[2], 3)
  raises("Model:add: model 'sequential' is being trained", function()
    model:compile { optimizer = "sgd", loss = function(labels, outputs) return (labels - outputs):square():mean() end }
    local z = gb.zeros { 8, 3 }
    model:fit(x, z, { verbose = 0, callbacks = { { on_epoch_end = function() model:add(dense(2)) end } } })
  end)
end)

case("weights of a layer and of a model", function()
  local norm = gb.layers.BatchNormalization()
  local model = gb.Sequential { dense(3, { input_shape = { 4 }, name = "first" }), norm }
  equal(#model.weights, 6)
  equal(#model.trainable_weights, 4)
  equal(#model.non_trainable_weights, 2)
  equal(model.non_trainable_variables[1].name, "batch_normalization/moving_mean")
  equal(#norm.weights, 4)
  equal(#norm.trainable_weights, 2)
  norm.trainable = false
  equal(#norm.trainable_variables, 0)
  equal(#norm.non_trainable_weights, 4)
  equal(#model.non_trainable_weights, 4)
  equal(norm:count_params(), 12)
  local first = model:get_layer "first"
  local saved = first:get_weights()
  first:set_weights { gb.ones { 4, 3 }, gb.zeros { 3 } }
  near(first(gb.ones { 1, 4 }):sum():item(), 12, 1e-6)
  first:set_weights(saved)
  equal(testing.show(first:get_weights()[1]:to_table()), testing.show(saved[1]:to_table()))
  raises("layer 'first' (Dense): has 2 variables, got 1 weights", first.set_weights, first, { saved[1] })
  raises("layer 'first' (Dense): the weight first/kernel must be float32[4, 3], got float32[3]", first.set_weights,
    first, { saved[2], saved[2] })
  raises("has no weights yet", gb.layers.Dense(2).set_weights, gb.layers.Dense(2), {})
end)
