-- Layers against what Keras computes with the same weights: output, and the gradient of the sum of its squares.
local gb = require "gpubench"
local testing = require "testing"
local cases = {}

-- "Conv2D{filters=2}".
function cases.describe(case)
  local options = {}
  for name, value in pairs(case.options) do options[#options + 1] = name .. "=" .. testing.show(value) end
  table.sort(options)
  return string.format("%s{%s}", case.class or case.name or "", table.concat(options, ", "))
end

-- Compares nested arrays (or tensors) number by number; the tolerance is relative for numbers above 1.
function cases.close(actual, expected, tolerance, what)
  if type(actual) == "userdata" then actual = actual:to_table() end
  if type(expected) == "number" then
    if math.abs(actual - expected) > tolerance * math.max(1, math.abs(expected)) then
      error(string.format("%s: Keras has %.7g, gpubench %.7g", what, expected, actual), 0)
    end
    return testing.note()
  end
  testing.is_true(#actual == #expected, what .. " has another size")
  for index, item in ipairs(expected) do
    cases.close(actual[index], item, tolerance, what .. "[" .. index .. "]")
  end
end

-- The extents of nested arrays without the first.
function cases.example_shape(values)
  local shape, row = {}, values[1]
  while type(row) == "table" do
    shape[#shape + 1] = #row
    row = row[1]
  end
  return shape
end

-- The model of one layer, with the case's weights.
local function model_of(case, inputs)
  local options = {}
  for name, value in pairs(case.options) do options[name] = value end
  local make = gb.layers[case.class]
  local layer = case.inner and make(gb.layers[case.inner.class](case.inner.options), options) or make(options)
  local symbols = {}
  for index, input in ipairs(inputs) do symbols[index] = gb.Input(cases.example_shape(input)) end
  if case.mask then symbols[#symbols + 1] = gb.Input { shape = cases.example_shape(case.mask), dtype = "int32" } end
  local model = gb.Model { inputs = symbols, outputs = layer(#symbols == 1 and symbols[1] or symbols) }
  local weights = {}
  for index, values in ipairs(case.weights) do weights[index] = gb.tensor(values) end
  if #weights > 0 then model:set_weights(weights) end
  return model
end

function cases.run(list)
  for _, case in ipairs(list) do
    local inner = case.inner and " of " .. cases.describe(case.inner) or ""
    testing.case("layer " .. cases.describe(case) .. inner .. (case.mask and ", masked" or ""), function()
      local inputs = case.inputs or { case.input }
      local model, tensors = model_of(case, inputs), {}
      for index, input in ipairs(inputs) do tensors[index] = gb.tensor(input) end
      if case.mask then tensors[#tensors + 1] = gb.tensor(case.mask, { dtype = "int32" }) end
      local given = #tensors == 1 and tensors[1] or tensors
      cases.close(model(given), case.output, 1e-5, "output")
      local tape <close> = gb.tape()
      local total = model(given):square():sum()
      cases.close(tape:gradient(total, tensors[1]), case.gradient_of_squares, 2e-5, "gradient")
    end)
  end
end

return cases
