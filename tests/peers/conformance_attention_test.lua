-- Layers of transformers against what Keras computes with the same weights: outputs, and the gradients of the sum of
-- their squares (reference_attention_values.lua, written by reference_attention.py).
local gb = require "gpubench"
local testing = require "testing"
local reference = dofile "tests/peers/reference_attention_values.lua"

local function close(actual, expected, what)
  if type(actual) == "userdata" then actual = actual:to_table() end
  if type(expected) == "number" then
    if math.abs(actual - expected) > 2e-5 * math.max(1, math.abs(expected)) then
      error(string.format("%s: Keras has %.7g, gpubench %.7g", what, expected, actual), 0)
    end
    return testing.note()
  end
  testing.is_true(#actual == #expected, what .. " has another size")
  for index, item in ipairs(expected) do close(actual[index], item, what .. "[" .. index .. "]") end
end

local function describe(case)
  local options = {}
  for name, value in pairs(case.options) do options[#options + 1] = name .. "=" .. testing.show(value) end
  table.sort(options)
  return string.format("%s{%s}%s", case.class, table.concat(options, ", "), case.mask and " masked" or "")
end

-- The shape of one example.
local function example_shape(values)
  local shape, row = {}, values[1]
  while type(row) == "table" do
    shape[#shape + 1] = #row
    row = row[1]
  end
  return shape
end

for _, case in ipairs(reference) do
  testing.case(describe(case), function()
    local integers = case.class == "Embedding"
    local symbols, tensors = {}, {}
    for index, values in ipairs(case.inputs) do
      symbols[index] = gb.Input { shape = example_shape(values), dtype = integers and "int32" or "float32" }
      tensors[index] = gb.tensor(values, { dtype = integers and "int32" or "float32" })
    end
    local floating = #tensors
    if case.mask then
      symbols[floating + 1] = gb.Input { shape = example_shape(case.mask), dtype = "int32" }
      tensors[floating + 1] = gb.tensor(case.mask, { dtype = "int32" })
    end
    local layer = gb.layers[case.class](case.options)
    local model = gb.Model { inputs = symbols, outputs = layer(symbols) }
    local weights = {}
    for index, values in ipairs(case.weights) do weights[index] = gb.tensor(values) end
    model:set_weights(weights)
    local tape <close> = gb.tape()
    local output = model(tensors)
    close(output, case.output, "output")
    local total = output:square():sum()
    for index, expected in ipairs(case.weight_gradients) do
      close(tape:gradient(total, model.trainable_variables[index]), expected, "gradient of weight " .. index)
    end
    for index, expected in ipairs(case.input_gradients) do
      close(tape:gradient(total, tensors[index]), expected, "gradient of input " .. index)
    end
  end)
end
