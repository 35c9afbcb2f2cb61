-- Models as layers of models, several outputs with named losses, layers by name, steps on single batches.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises, near = testing.case, testing.equal, testing.raises, testing.near

local function values(tensor) return testing.show(tensor:to_table()) end
local x, y = gb.random.uniform({ 8, 4 }, { seed = 1 }), gb.random.uniform({ 8, 2 }, { seed = 2 })

local function encoder()
  return gb.Sequential { gb.layers.Dense(3, { activation = "relu", input_shape = { 4 } }), gb.layers.Dense(3) }
end
local function residual()
  local input = gb.Input { shape = { 3 } }
  return gb.Model { inputs = input, outputs = gb.layers.Dense(3)(input) + input, name = "residual" }
end

case("models inside Sequential, and names that are taken change", function()
  local first, second, third = encoder(), residual(), gb.Sequential { gb.layers.Dense(2) }
  local model = gb.Sequential { first, second, third }
  equal(values(model(x)), values(third(second(first(x)))))
  equal(model:count_params(), first:count_params() + second:count_params() + third:count_params())
  local names = {}
  for _, layer in ipairs(model.layers) do
    equal(names[layer.name], nil)
    names[layer.name] = true
  end
  equal(names.dense_3, true)
  model:compile { optimizer = "adam", loss = "mse" }
  model:fit(x, y, { verbose = 0 })
  equal(values(model(x)), values(third(second(first(x)))))
  local path = gb._native.options.out .. "/results/nested"
  model:save(path)
  equal(values(gb.load_model(path)(x)), values(model(x)))
end)

case("chains inside chains stay chains", function()
  local model = gb.Sequential { gb.Sequential { gb.layers.Dense(3), gb.layers.Dense(4) }, gb.layers.Dense(2) }
  equal(testing.show(model(x).shape), "{ 8, 2 }")
  equal(#gb.Sequential { encoder(), gb.layers.Dense(2) }.layers, 3)
  raises("a chain with a functional model in it starts with", gb.Sequential, { gb.layers.Dense(3), residual() })
  local input = gb.Input { shape = { 4 } }
  local two = gb.Model { inputs = input, outputs = { gb.layers.Dense(2)(input), gb.layers.Dense(3)(input) },
    name = "two" }
  raises("model 'two' has 1 inputs and 2 outputs; a chain takes one of each", gb.Sequential, { two })
end)

case("a layer that is used twice has one set of weights", function()
  local a, b = gb.Input { shape = { 4 } }, gb.Input { shape = { 4 } }
  local shared = gb.layers.Dense(3, { name = "shared" })
  local model = gb.Model { inputs = { a, b }, outputs = gb.layers.Dense(2)(shared(a) - shared(b)) }
  equal(model:count_params(), 4 * 3 + 3 + 3 * 2 + 2)
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit({ x, x * 2 }, y, { verbose = 0 })
  local siamese = encoder()
  local both = gb.Model { inputs = { a, b }, outputs = siamese(a) - siamese(b) }
  equal(both:count_params(), siamese:count_params())
  local wide = gb.Input { shape = { 5 } }
  raises("layer 'shared' (Dense): was built for 4 features", shared, wide)
  local fresh = gb.layers.Dense(3)
  raises("was built for 4 features", gb.Model, { inputs = { a, wide }, outputs = fresh(a) + fresh(wide) })
end)

case("layers by name and by number, and what they give", function()
  local model = encoder()
  equal(model:get_layer("dense_1").name, "dense_1")
  equal(model:get_layer { name = "dense" }.kind, "Dense")
  equal(model:get_layer { index = 1 }.name, "dense")
  raises("there is no layer 'dens'", model.get_layer, model, "dens")
  raises("has the layers 1 to 2, got 4", model.get_layer, model, { index = 4 })
  raises("a name or an index is expected", model.get_layer, model, {})
  local features = gb.Model { inputs = model.inputs, outputs = model:get_layer("dense").output }
  equal(values(model:get_layer("dense")(x)), values(features(x)))
  equal({ #model.inputs, #model.outputs, testing.show(model.outputs[1].shape) }, { 1, 1, "{ 3 }" })
  equal(#gb.Sequential({ gb.layers.Dense(2) }).inputs, 0)
end)

case("parameters, trainable and not", function()
  local model = gb.Sequential { gb.layers.Dense(3, { input_shape = { 4 } }), gb.layers.BatchNormalization(),
    gb.layers.Dense(2) }
  equal(model:count_params(), 15 + 12 + 8)
  equal({ model:count_params { trainable = true }, model:count_params { trainable = false } }, { 15 + 6 + 8, 6 })
  model:get_layer("dense").trainable = false
  equal(model:count_params { trainable = true }, 6 + 8)
end)

local function two_outputs(options)
  gb.config.set_seed(4)
  local input = gb.Input { shape = { 4 } }
  local hidden = gb.layers.Dense(4, { activation = "relu" })(input)
  local model = gb.Model { inputs = input, outputs = {
    gb.layers.Dense(2, { name = "points" })(hidden),
    gb.layers.Dense(3, { name = "class", activation = "softmax" })(hidden),
  } }
  options.optimizer = "adam"
  model:compile(options)
  return model
end
local classes = gb.tensor({ 0, 1, 2, 0, 1, 2, 0, 1 }, { dtype = "int64" })

case("losses of each output are in the history", function()
  local model = two_outputs {
    loss = { class = "sparse_categorical_crossentropy", points = "mse" }, metrics = { class = "accuracy" },
  }
  local history = model:fit(x, { y, classes },
    { epochs = 2, verbose = 0, validation_data = { x, { y, classes } } }).history
  local names = {}
  for name in pairs(history) do names[#names + 1] = name end
  table.sort(names)
  equal(testing.show(names), testing.show { "class_accuracy", "class_loss", "loss", "points_loss", "val_class_accuracy",
    "val_class_loss", "val_loss", "val_points_loss" })
  near(history.loss[2], history.class_loss[2] + history.points_loss[2], 1e-5)
  local by_order = two_outputs { loss = { "mse", "sparse_categorical_crossentropy" } }
  near(by_order:fit(x, { y, classes }, { epochs = 2, verbose = 0 }).history.points_loss[2],
    history.points_loss[2], 1e-6)
end)

case("names that are no outputs", function()
  raises("the model has no output 'klass'; its outputs: points, class", two_outputs, { loss = { klass = "mse" } })
  raises("option 'loss': output 'points' has none", two_outputs, { loss = { class = "mse" } })
  raises("option 'metrics': the model has no output 'x'", two_outputs, { loss = "mse", metrics = { x = "accuracy" } })
end)

case("steps on single batches are those of fit", function()
  local function build()
    gb.config.set_seed(6)
    local model = encoder()
    local all = gb.Sequential { model, gb.layers.Dense(2) }
    all:compile { optimizer = "adam", loss = "mse", metrics = { "mse" } }
    return all
  end
  local by_fit, by_hand = build(), build()
  local loss = by_fit:fit(x, y, { batch_size = 4, shuffle = false, verbose = 0 }).history.loss[1]
  local first = by_hand:train_on_batch(x[{ 1, 4 }], y[{ 1, 4 }])
  local second = by_hand:train_on_batch(x[{ 5, 8 }], y[{ 5, 8 }])
  near((first.loss + second.loss) / 2, loss, 1e-6)
  near(first.mse, first.loss, 1e-6)
  for i, weight in ipairs(by_fit:get_weights()) do equal(values(weight), values(by_hand:get_weights()[i])) end
  near(by_hand:test_on_batch(x, y).loss, by_hand:evaluate(x, y).loss, 1e-7)
  equal(values(by_hand:predict_on_batch(x)), values(by_hand:predict(x)))
  raises("tensors of one batch are expected", by_hand.train_on_batch, by_hand, gb.datasets.mnist("train"):batch(4))
  raises("labels are expected", by_hand.train_on_batch, by_hand, x)
  raises("takes at most 2 arguments, got 3", by_hand.train_on_batch, by_hand, x, y, { batch_size = 4 })
end)
