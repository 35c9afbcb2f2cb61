-- Rows of tensors: ranges that are cut at the end, loops over rows, and assignment to rows.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises, contains = testing.case, testing.equal, testing.raises, testing.contains

gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })

local function text(x) return testing.show(x:to_table()) end
local function int(values) return gb.tensor(values, { dtype = "int64" }) end

case("a range is cut at the end, as in Python, and begins at an element", function()
  local x = gb.arange(30)
  equal(#x[{ 26, 40 }], 5)
  equal(text(x[{ 29, math.maxinteger }]), "{ 28, 29 }")
  equal(text(x:rows(30, 31)), "{ 29 }")
  equal(text(x[{ 21, 100, 4 }]), "{ 20, 24, 28 }")
  equal(text(gb.zeros { 2, 3 }[{ {}, { 3, 9 } }]), "{ { 0.0 }, { 0.0 } }")
  raises("index 31 is out of range: dimension 1 has 30 elements, numbered from 1", function() return x[{ 31, 40 }] end)
  raises("index 31 is out of range", function() return x[{ 31 }] end)
  raises("index 32 is out of range", function() return x[32] end)
  raises("index -31 is out of range", function() return x[{ -31, 40 }] end)
  raises("index 0 is out of range", function() return x[0] end)
  raises("the range {5, 4} holds nothing", function() return x[{ 5, 4 }] end)
end)

case("slices of a batch that does not divide add up to it", function()
  local x, sum = gb.ones { 30, 2 }, 0
  for i = 1, #x, 8 do sum = sum + x[{ i, i + 7 }]:sum():item() end
  equal(sum, 60.0)
end)

case("a gradient flows through a range that is cut", function()
  local x = gb.Variable { 1, 2, 3 }
  local gradient = gb.tape(function(tape) return tape:gradient((x[{ 2, 9 }] * 5):sum(), x) end)
  equal(text(gradient), "{ 0.0, 5.0, 5.0 }")
end)

case("ipairs ends behind the last row, eagerly and compiled", function()
  local function squares(x)
    local rows = {}
    for i, row in ipairs(x) do rows[i] = row * row end
    return gb.stack(rows)
  end
  local x = int { { 1, 2 }, { 3, 4 }, { 5, 6 } }
  equal(text(squares(x)), "{ { 1, 4 }, { 9, 16 }, { 25, 36 } }")
  equal(text(gb.compile(squares)(x)), text(squares(x)))
  equal(x[4], nil)
  equal(gb.zeros { 0, 3 }[1], nil)
  raises("a scalar", function() return gb.tensor(1)[1] end)
end)

case("rows are assigned", function()
  local x = gb.tensor { { 1, 4 }, { 9, 16 }, { 25, 36 } }
  for i = 1, #x do x[i] = x[i]:sqrt() end
  equal(text(x), "{ { 1.0, 2.0 }, { 3.0, 4.0 }, { 5.0, 6.0 } }")
  x[-1] = { 7, 8 }
  x[{ 1, 2 }] = 0
  equal(text(x), "{ { 0.0, 0.0 }, { 0.0, 0.0 }, { 7.0, 8.0 } }")
  x[{ 2, 9 }] = x[{ 1, 2 }] + 1
  equal(text(x), "{ { 0.0, 0.0 }, { 1.0, 1.0 }, { 1.0, 1.0 } }")
  x[{ {}, {} }] = { { 1, 2 }, { 3, 4 }, { 5, 6 } }
  x[{}] = x
  x[1] = x[2]
  x[{ 2, 3 }] = x[{ 1, 2 }]
  equal(text(x), "{ { 3.0, 4.0 }, { 3.0, 4.0 }, { 3.0, 4.0 } }")
  local line = int { 1, 2, 3 }
  line[2] = math.maxinteger
  equal(text(line), testing.show { 1, math.maxinteger, 3 })
end)

case("another name of the tensor sees the change; other tensors and datasets keep their values", function()
  local x = gb.tensor { { 1, 2 }, { 3, 4 } }
  local alias, flat, row = x, x:reshape { 4 }, x[1]
  local dataset = gb.data.Dataset.from_tensor_slices(x)
  local compiled = gb.compile(function(y) return y + x end)
  local sums = text(compiled(gb.zeros { 2, 2 }))
  x[1] = { 9, 9 }
  equal(text(alias), "{ { 9.0, 9.0 }, { 3.0, 4.0 } }")
  equal(text(flat), "{ 1.0, 2.0, 3.0, 4.0 }")
  equal(text(row), "{ 1.0, 2.0 }")
  equal(text(dataset:iter()()), "{ 1.0, 2.0 }")
  equal(text(compiled(gb.zeros { 2, 2 })), sums)
  flat[1] = 5
  equal(text(x), "{ { 9.0, 9.0 }, { 3.0, 4.0 } }")
  for element in gb.data.Dataset.from_tensor_slices(x):batch(2) do
    element[1] = 0
    equal(text(element), "{ { 0.0, 0.0 }, { 3.0, 4.0 } }")
  end
  equal(text(x), "{ { 9.0, 9.0 }, { 3.0, 4.0 } }")
end)

case("rows of variables and of a model's weights are assigned, also between steps", function()
  local v = gb.Variable { { 1, 2 }, { 3, 4 } }
  v[2] = v[1] * 10
  v[{}] = v
  equal(text(v), "{ { 1.0, 2.0 }, { 10.0, 20.0 } }")
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 2 }, use_bias = false }) }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0 }, loss = "mse" }
  local one = gb.ones { 1, 2 }
  model:fit(one, one, { verbose = 0 })
  model.variables[1][{}] = 0
  equal(text(model:predict(one)), "{ { 0.0, 0.0 } }")
  model:fit(one, one, { epochs = 2, verbose = 0, callbacks = {
    { on_epoch_end = function() model.variables[1][1] = { 3, 4 } end },
  } })
  equal(text(model:predict(one)), "{ { 3.0, 4.0 } }")
end)

case("rows move between devices", function()
  local here = gb.device("cpu:0", function() return gb.zeros { 2, 2 } end)
  local there = gb.device("cpu:1", function() return gb.ones { 2, 2 } end)
  here[1] = there[2]
  there[{ 1, 2 }] = here
  equal(here.device .. text(here), "cpu:0{ { 1.0, 1.0 }, { 0.0, 0.0 } }")
  equal(there.device .. text(there), "cpu:1{ { 1.0, 1.0 }, { 0.0, 0.0 } }")
  local copied = here:to "cpu:1"
  here[1] = 7
  equal(text(copied), "{ { 1.0, 1.0 }, { 0.0, 0.0 } }")
end)

case("what cannot be assigned is refused, and the tensor stays as it was", function()
  local x = gb.tensor { { 1, 2 }, { 3, 4 } }
  local before = text(x)
  local function set(key, value) return function() x[key] = value end end
  raises("the rows are float32[2], got float32[3]", set(1, { 1, 2, 3 }))
  raises("the rows are float32[1, 2], got float32[2]", set({ 1, 1 }, { 1, 2 }))
  raises("the rows are float32[2], got int64[2]", set(1, int { 1, 2 }))
  raises("index 3 is out of range", set(3, 0))
  raises("index 0 is out of range", set(0, 0))
  raises("a part of a row cannot be", set({ {}, { 1 } }, 0))
  raises("2 ranges for a tensor of 1 dimensions", function() gb.arange(2)[{ {}, {} }] = 0 end)
  raises("rows with gaps", function() gb.arange(4)[{ 1, 4, 2 }] = 0 end)
  raises("a scalar has no rows", function() gb.tensor(1)[1] = 2 end)
  raises("Tensor: cannot set 'colour'", set("colour", 1))
  testing.refuses(set(1.5, 0))
  testing.refuses(set(1, "text"))
  testing.refuses(set(1, nil))
  testing.refuses(set(1, { { 1 }, 2 }))
  testing.refuses(set(true, 0))
  testing.refuses(function() int { 1 }[1] = 0.5 end)
  raises("rows cannot be assigned while a tape records", function() gb.tape(set(1, 0)) end)
  raises("rows cannot be assigned in a traced function", function()
    gb.compile(function(y) y[1] = 0 return y end)(gb.zeros { 2 })
  end)
  raises("rows cannot be assigned in a traced function", function()
    gb.compile(function(y) x[1] = y[1] return y end)(gb.zeros { 2, 2 })
  end)
  local kept
  gb.compile(function(y) kept = y return y * 2 end)(gb.zeros { 2 })
  testing.refuses(set(1, kept))
  testing.refuses(function() kept[1] = 0 end)
  equal(text(x), before)
  contains(testing.refuses(function() gb.zeros({ 0, 2 })[1] = 0 end), "index 1 is out of range")
end)
