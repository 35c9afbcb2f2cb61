-- Inputs, outputs, labels and weights of examples in tables by names.
local gb = require "gpubench"
local testing = require "testing"
local raises = testing.raises

local x = { left = gb.random.normal({ 6, 3 }, { seed = 1 }), right = gb.random.normal({ 6, 2 }, { seed = 2 }) }
local y = { size = gb.random.normal({ 6, 1 }, { seed = 3 }),
  kind = gb.tensor({ 0, 1, 2, 0, 1, 2 }, { dtype = "int64" }) }
local losses = { size = "mse", kind = "sparse_categorical_crossentropy" }

-- `lists`: the same inputs and outputs as lists.
local function model_of(lists)
  gb.config.set_seed(5)
  local left, right = gb.Input { shape = { 3 }, name = "left" }, gb.Input { shape = { 2 }, name = "right" }
  local both = gb.layers.Concatenate() { left, right }
  local size = gb.layers.Dense(1, { name = "size" })(both)
  local kind = gb.layers.Dense(3, { name = "kind", activation = "softmax" })(both)
  return gb.Model {
    inputs = lists and { left, right } or { right = right, left = left },
    outputs = lists and { kind, size } or { size = size, kind = kind },
  }
end

local function compiled(model, options)
  options = options or {}
  options.optimizer = gb.optimizers.SGD(0.1)
  options.loss = options.loss or losses
  model:compile(options)
  return model
end

local function all_values(tensors)
  local values = {}
  for i, tensor in ipairs(tensors) do values[i] = tensor:to_table() end
  return values
end

testing.case("names are in their order, and calls and predictions have them", function()
  local model, listed = model_of(), model_of(true)
  testing.equal({ model.inputs[1].shape, model.inputs[2].shape }, { { 3 }, { 2 } })
  testing.equal({ model.outputs[1].shape, model.outputs[2].shape }, { { 3 }, { 1 } })
  local expected = listed:predict { x.left, x.right }
  for _, given in ipairs { x, { x.left, x.right } } do
    for _, outputs in ipairs { model:predict(given), model:predict_on_batch(given), model(given) } do
      testing.equal(outputs.kind:to_table(), expected[1]:to_table())
      testing.equal(outputs.size:to_table(), expected[2]:to_table())
      testing.equal(#outputs, 0)
    end
    testing.equal(listed:predict(given)[2]:to_table(), expected[2]:to_table())
  end
  local shapes = {}
  model:predict(x, { batch_size = 4, callbacks = { { on_predict_batch_end = function(_, logs)
    shapes[#shapes + 1] = logs.outputs.size.shape
  end } } })
  testing.equal(shapes, { { 4, 1 }, { 2, 1 } })
end)

testing.case("a model with names is a layer, and one output with a name stays a table", function()
  local model = model_of()
  local left, right = gb.Input { 3 }, gb.Input { 2 }
  local outer = gb.Model { inputs = { left, right }, outputs = { only = model { left = left, right = right }.size } }
  testing.equal(outer:predict({ x.left, x.right }).only:to_table(), model:predict(x).size:to_table())
end)

testing.case("fit, evaluate and single batches take names for inputs, labels and weights", function()
  local weights = { kind = gb.ones { 6 }, size = gb.tensor { 1, 0, 2, 1, 0, 1 } }
  local function trained(lists, given, labels, factors, options)
    local model = compiled(model_of(lists), options)
    local history = model:fit(given, labels, { epochs = 2, verbose = 0, shuffle = false, batch_size = 4,
      sample_weight = factors, validation_data = { given, labels, factors } }).history
    return { history, model:evaluate(given, labels, { sample_weight = factors }), model:train_on_batch(given, labels),
      model:test_on_batch(given, labels), all_values(model:get_weights()) }
  end
  local options = { loss_weights = { size = 0.5, kind = 2 }, metrics = { kind = "accuracy" }, weighted_metrics = {
    size = { "mae" } } }
  local by_name = trained(false, x, y, weights, options)
  local listed = trained(true, { x.left, x.right }, { y.kind, y.size }, { weights.kind, weights.size }, options)
  testing.equal(listed, by_name)
  testing.equal(trained(true, x, y, weights, options), by_name)
  testing.equal(trained(false, { x.left, x.right }, { y.kind, y.size }, { weights.kind, weights.size },
    { loss = { losses.kind, losses.size }, loss_weights = { 2, 0.5 }, metrics = { "accuracy", {} },
      weighted_metrics = { {}, { "mae" } } }), by_name)
  local names = {}
  for name in pairs(by_name[1]) do names[#names + 1] = name end
  table.sort(names)
  testing.equal(table.concat(names, " "), "kind_accuracy kind_loss loss size_loss size_mae val_kind_accuracy "
    .. "val_kind_loss val_loss val_size_loss val_size_mae")
end)

testing.case("a train_step sees names, and compute_loss takes them", function()
  local model = compiled(model_of())
  local expected = model:test_on_batch(x, y).loss
  function model:train_step(left, right, kind, size)
    local given, labels = { left = left, right = right }, { kind = kind, size = size }
    return { loss = self:compute_loss(given, labels, self(given, { training = true })) }
  end
  compiled(model)
  testing.near(model:fit(x, y, { verbose = 0, batch_size = 6 }).history.loss[1], expected, 1e-6)
  raises("y_pred: the model's output 'size' is missing; its outputs: kind, size", model.compute_loss, model, x, y,
    { kind = gb.ones { 6, 3 } })
end)

testing.case("files, and models that are made of others, keep names", function()
  local model = model_of()
  local folder = gb._native.options.out .. "/results/names"
  model:save(folder)
  local data = gb.data.Dataset.from_tensor_slices { x.left, x.right, y.kind, y.size }:batch(6)
  for _, other in ipairs { gb.load_model(folder), gb.model_from_json(model:to_json()), gb.quantize.aware(model),
    gb.quantize.int8(model, { calibration = data }) } do
    testing.equal(other:predict(x).kind.shape, { 6, 3 })
  end
  testing.near(compiled(model):evaluate(data).loss, model:evaluate(x, y).loss, 1e-6)
end)

testing.case("names that are missing, and others", function()
  local model = compiled(model_of())
  local left = x.left
  raises("inputs: the model has no input 'middle'; its inputs: left, right", model.predict, model,
    { left = left, middle = left })
  raises("inputs: the model's input 'right' is missing; its inputs: left, right", model.predict, model, { left = left })
  raises("the model's input 'right' is missing; its inputs: left, right", model, { left = left })
  raises("labels: the model has no output 'sizes'; its outputs: kind, size", model.fit, model, x,
    { kind = y.kind, sizes = y.size }, { verbose = 0 })
  raises("labels: the model's output 'kind' is missing", model.evaluate, model, x, { size = y.size })
  raises("weights of examples: the model has no output 'kinds'", model.fit, model, x, y,
    { sample_weight = { kinds = gb.ones { 6 } }, verbose = 0 })
  raises("labels: the model's output 'kind' is missing", model.fit, model, x, y,
    { validation_data = { x, { size = y.size } }, verbose = 0 })
  raises("inputs: a list or a table by names is expected, got a table with both", model.predict, model,
    { left, right = x.right })
  raises("option 'loss': the model has no output 'sizes'; its outputs: kind, size", compiled, model,
    { loss = { kind = "mse", sizes = "mse" } })
  raises("option 'loss': output 'size' has none", compiled, model, { loss = { kind = "mse" } })
  raises("option 'metrics': the model has the outputs kind, size: a list with a metric or a list for each of the 2 is "
    .. "expected, or a table by their names; got a list of 1", compiled, model, { metrics = { "mae" } })
  raises("option 'outputs'", gb.Model, { inputs = gb.Input { 1 }, outputs = { 1, a = 2 } })
  raises("needs at least one input and one output", gb.Model, { inputs = {}, outputs = gb.Input { 1 } })
end)
