-- The order of model.layers and model.weights, and what a stored model keeps of it, against Keras
-- (layer_order_values.lua, written by layer_order.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/layer_order_values.lua"
local width = 3

-- As layer_order.py has it.
local function model_of(graph, name)
  local made, models, layers = {}, {}, {}
  for i = 1, graph.inputs do made[i] = gb.Input { shape = { width }, name = name .. "input" .. i } end
  local inputs = { table.unpack(made) }
  for i, inner in ipairs(graph.models) do models[i] = model_of(inner, string.format("%sm%d_", name, i - 1)) end
  for _, call in ipairs(graph.calls) do
    local what, which, given = call[1], call[2], {}
    for index, argument in ipairs(call[3]) do given[index] = made[argument] end
    if what == "dense" then
      layers[which] = layers[which] or gb.layers.Dense { units = width, name = which }
      made[#made + 1] = layers[which](given[1])
    elseif what == "add" then
      made[#made + 1] = gb.layers.Add { name = which }(given)
    elseif what == "plus" then
      made[#made + 1] = given[1] + given[2]
    else
      local outputs = models[which](#given > 1 and given or given[1])
      for _, output in ipairs(type(outputs) == "table" and outputs or { outputs }) do made[#made + 1] = output end
    end
  end
  local outputs = {}
  for index, output in ipairs(graph.outputs) do outputs[index] = made[output] end
  return gb.Model { inputs = inputs, outputs = outputs, name = name .. "model" }
end

-- Operators are layers here.
local function names_of(model, known)
  local names, expected = {}, {}
  for _, name in ipairs(known) do expected[name] = true end
  for _, layer in ipairs(model.layers) do
    if expected[layer.name] or layer.name:find "dense" then names[#names + 1] = layer.name end
  end
  return names
end

local function weights_of(model)
  local names = {}
  for index, variable in ipairs(model.weights) do names[index] = variable.name end
  return names
end

compare.run(reference.order, function(case)
  local model = model_of(case.graph, "")
  testing.equal(names_of(model, case.layers), case.layers)
  testing.equal(weights_of(model), case.weights)
  local folder = gb._native.options.out .. "/results/layer_order"
  model:save(folder)
  local loaded = gb.load_model(folder)
  testing.equal(names_of(loaded, case.layers), case.layers)
  testing.equal(weights_of(loaded), case.weights)
end)
