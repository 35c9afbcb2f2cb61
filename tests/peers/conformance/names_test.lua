-- Inputs, outputs, labels and weights of examples by names against Keras (names_values.lua, written by names.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/names_values.lua"
local close, tensor = compare.close, compare.tensor

-- In the order of a model's lists.
local sides = { inputs = { "left", "right" }, outputs = { "size", "kind" } }

local function sided(values, side, by_name)
  if by_name then return values end
  local list = {}
  for index, name in ipairs(sides[side]) do list[index] = values[name] end
  return list
end

local function by_names(values)
  local tensors = {}
  for name, array in pairs(values) do tensors[name] = tensor(array) end
  return tensors
end

local function model_of(form, named)
  local inputs = {
    left = gb.Input { shape = { 3 }, name = "left" }, right = gb.Input { shape = { 2 }, name = "right" },
  }
  local both, prefix = gb.layers.Concatenate() { inputs.left, inputs.right }, form.prefix or ""
  local outputs = {
    size = gb.layers.Dense(1, { name = prefix .. "size" })(both),
    kind = gb.layers.Dense(3, { name = prefix .. "kind", activation = "softmax" })(both),
  }
  return gb.Model { inputs = sided(inputs, "inputs", named.inputs), outputs = sided(outputs, "outputs", named.outputs) }
end

local function same_figures(figures, expected, what)
  for name in pairs(figures) do testing.is_true(expected[name], "a figure of Keras: " .. name) end
  for name, values in pairs(expected) do close(figures[name], values, 1e-5, what .. " " .. name) end
end

compare.run(reference.models, function(case)
  local named = {}
  for _, what in ipairs(case.form.named) do named[what] = true end
  local model = model_of(case.form, named)
  for index, symbol in ipairs(model.inputs) do
    testing.equal(symbol.shape, { case.inputs[index] == "left" and 3 or 2 })
  end
  for index, symbol in ipairs(model.outputs) do testing.equal(symbol.shape, { case.outputs[index] }) end
  for index, variable in ipairs(model.weights) do testing.equal(variable.name, case.paths[index]) end
  model:set_weights(compare.tensors(case.start))
  model:compile(compare.copy(case.compiled, { optimizer = gb.optimizers.SGD(0.1) }))
  local x, y = sided(by_names(case.x), "inputs", named.x), sided(by_names(case.y), "outputs", named.y)
  local weights = case.weights and sided(by_names(case.weights), "outputs", named.y)
  same_figures(model:fit(x, y, { epochs = 2, batch_size = 4, shuffle = false, verbose = 0, sample_weight = weights })
    .history, case.history, "history")
  same_figures(model:evaluate(x, y, { sample_weight = weights }), case.evaluated, "evaluate")
  close(model:get_weights(), case.after, 1e-5, "weights")
  local predicted = model:predict(x)
  testing.equal(predicted[1] == nil, case.is_named)
  for index, name in ipairs(sides.outputs) do
    close(predicted[case.is_named and name or index], case.predicted[name], 1e-5, name)
  end
end, {
  ["a loss for one output"] = { "each output of a model has a loss; its factor may be 0",
    "option 'loss': output 'size' has none; each of kind, size needs one" },
})
