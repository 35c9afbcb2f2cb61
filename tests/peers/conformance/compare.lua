-- Holds gpubench against what Keras computed: the cases of a values file, one after the other.
local gb = require "gpubench"
local testing = require "testing"
local compare = {}

-- Compares nested arrays (or tensors) number by number; the tolerance is relative for numbers above 1.
function compare.close(actual, expected, tolerance, what)
  if type(actual) == "userdata" then actual = #actual.shape == 0 and actual:item() or actual:to_table() end
  if type(expected) ~= "table" or type(actual) ~= "table" then
    local equal = actual == expected or actual ~= actual and expected ~= expected
    if not equal and type(actual) == "number" and type(expected) == "number" then
      equal = math.abs(actual - expected) <= tolerance * math.max(1, math.abs(expected))
    end
    if equal then return testing.note() end
    error(string.format("%s: Keras has %s, gpubench %s", what, testing.show(expected), testing.show(actual)), 0)
  end
  if #actual ~= #expected then
    error(string.format("%s: Keras has %d elements, gpubench %d", what, #expected, #actual), 0)
  end
  testing.note()
  for index, item in ipairs(expected) do compare.close(actual[index], item, tolerance, what .. "[" .. index .. "]") end
end

-- A tensor of the type that the numbers have: whole ones are int64, others float32.
function compare.tensor(values)
  local first = values
  while type(first) == "table" do first = first[1] end
  return gb.tensor(values, math.type(first) == "integer" and { dtype = "int64" } or nil)
end

function compare.tensors(list)
  local tensors = {}
  for index, values in ipairs(list) do tensors[index] = compare.tensor(values) end
  return tensors
end

-- A symbol for examples like those of a tensor.
function compare.symbol(tensor)
  return gb.Input { shape = { table.unpack(tensor.shape, 2) }, dtype = tensor.dtype }
end

function compare.copy(options, more)
  local copy = {}
  for _, list in ipairs { options or {}, more or {} } do
    for name, value in pairs(list) do copy[name] = value end
  end
  return copy
end

-- Calls check(case) for each. A case in `departures`, which has the reason for its name, must differ from Keras; where
-- the reason is a table, its second text must stand in the error of the refusal.
function compare.run(cases, check, departures)
  local known = {}
  for _, case in ipairs(cases) do
    known[case.name] = true
    local departure = departures and departures[case.name]
    testing.case(case.name .. (departure and ", a departure" or ""), function()
      if not departure then return check(case) end
      testing.raises(type(departure) == "table" and departure[2] or "Keras has", check, case)
    end)
  end
  for name in pairs(departures or {}) do testing.is_true(known[name], "a case of the departure '" .. name .. "'") end
end

-- Each name of `registered` is the class of a case, or stands in `without`, which says why Keras has no case for it.
function compare.covers(registered, without, ...)
  local missing, covered = {}, compare.copy(without)
  for _, cases in ipairs { ... } do
    for _, case in ipairs(cases) do covered[case.class or ""] = true end
  end
  for name in pairs(registered) do
    if not covered[name] then missing[#missing + 1] = name end
  end
  table.sort(missing)
  testing.case("every name has a case", function() testing.equal(table.concat(missing, ", "), "") end)
end

return compare
