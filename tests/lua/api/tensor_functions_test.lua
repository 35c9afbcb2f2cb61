-- Functions of tensors beyond what functions_test.lua of tests/peers/conformance compares with Keras: refusals, symbols
-- of a model, 16 bits, maps of datasets, and functions that are compiled once for places that change.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises, near = testing.case, testing.equal, testing.raises, testing.near

local function values(tensor) return testing.show(tensor:to_table()) end
local function whole(list) return gb.tensor(list, { dtype = "int64" }) end
local x = gb.random.uniform({ 6, 4 }, { seed = 1 })

case("what cannot be is refused, with what is possible", function()
  local i = whole { 1, 2 }
  raises("axis 1 of float32[6, 4] has 4 elements, which are not 3 equal parts", x.split, x, 3, 1)
  raises("which are not 0 equal parts", x.split, x, 0)
  raises("parts of axis 0 end at rising numbers from 0 to 6, got 3, 2", x.split, x, { 3, 2 })
  raises("parts of axis 0 end at rising numbers from 0 to 6, got 7", x.split, x, { 7 })
  raises("split: ", x.split, x, 2, 2)
  raises("unstack: ", x.unstack, x, 2)
  raises("several shifts need as many axes", x.roll, x, { 1, 2 })
  raises("2 shifts for 1 axes", x.roll, x, { 1, 2 }, 0)
  raises("-1 repeats; 0 or more are possible", x.repeated, x, -1)
  raises("repeats of axis 1 are 4 numbers, 0 or more, got 1, 2", x.repeated, x, { 1, 2 }, 1)
  raises("broadcast_to: float32[6, 4] does not stretch to [6, 3]", x.broadcast_to, x, { 6, 3 })
  raises("logsumexp: int64[2] is not floating-point; cast it to float32", i.logsumexp, i)
  raises("nan in steps of 1 is no range", gb.arange, 0, math.huge - math.huge)
  raises("take_along_axis: index 7 of axis 0 is outside 0 to 5", function()
    return x:take_along_axis(whole { { 7, 0, 0, 0 } }, 0):item()
  end)
  raises("products of uint8[2] would overflow or have no meaning; cast it to int32 or float32", function()
    return gb.tensor({ 1, 2 }, { dtype = "uint8" }):prod()
  end)
  raises("axis 0 is given twice", x.prod, x, { 0, 0 })
  raises("a matrix is needed, got float32[3]", gb.ones({ 3 }).tril, gb.ones { 3 })
  raises("the largest 5 of 4 elements; 1 to 4 are possible", x.top_k, x, 5)
  raises("the largest 0 of 4 elements; 1 to 4 are possible", x.top_k, x, 0)
  raises("sort: bool[2] is not numeric", function() return gb.tensor({ true, false }):sort() end)
  raises("top_k: bool[2] is not numeric", function() return gb.tensor({ true, false }):top_k(1) end)
  raises("sort: ", x.sort, x, 2)
  raises("2 sizes for float32[4], which has 1 dimensions", function() return gb.ones({ 4 }):slice({ 0 }, { 1, 1 }) end)
  raises("the start has 1 numbers, for 2 dimensions", x.slice, x, { 0 }, { 1, 1 })
  raises("3 elements from place 4 on are not possible: axis 0 has 6, counted from 0", x.slice, x, { 4, 0 }, { 3, 1 })
  raises("7 elements are not possible: axis 0 has 6", x.slice, x, { whole(0), 0 }, { 7, 1 })
  raises("the start int64[3] must be a number for each of the 2 dimensions", x.slice, x, whole { 0, 0, 0 }, { 1, 1 })
  raises("the start of axis 0 must be one number, got int64[2]", x.slice, x, { i, 0 }, { 1, 1 })
  raises("slice: indices must be integers, got float32", x.slice, x, { gb.tensor(1.0), 0 }, { 1, 1 })
  raises("slice: index 6 of axis 0 is outside 0 to 5", function() return x:slice({ whole(5), 0 }, { 3, 1 }):item() end)
  raises("slice_update: index 6 of axis 0 is outside 0 to 5",
    function() return x:slice_update({ whole(6), 0 }, gb.ones { 1, 4 }) end)
  raises("5 elements from place 0 on are not possible: axis 1 has 4",
    x.slice_update, x, { 0, 0 }, gb.ones { 1, 5 })
  raises("the last dimension of the indices int64[2, 3] is the number of axes that they name, 1 to 2",
    gb.scatter, whole { { 0, 0, 0 }, { 0, 0, 0 } }, gb.ones { 2 }, { 4, 4 })
  raises("indices int64[2, 1] into [4, 3] need values of the shape [2, 3], got float32[2]",
    gb.scatter, whole { { 0 }, { 1 } }, gb.ones { 2 }, { 4, 3 })
  raises("values int64[1] are added in floating-point; cast them to float32",
    gb.scatter, whole { { 0 } }, whole { 1 }, { 4 })
  raises("the shape [-1] has a negative extent", gb.scatter, whole { { 0 } }, gb.ones { 1 }, { -1 })
  raises("scatter: index 4 of axis 0 is outside 0 to 3", gb.scatter, whole { { 4 } }, gb.ones { 1 }, { 4 })
  raises("scatter_update: index -1 of axis 0 is outside 0 to 5",
    x.scatter_update, x, whole { { -1 } }, gb.ones { 1, 4 })
  raises("scatter_update: the updates must be float32[1], got int64[1]", function()
    return gb.ones({ 4 }):scatter_update(whole { { 0 } }, whole { 1 })
  end)
  raises("unknown reduction 'max'", x.scatter_update, x, whole { { 0 } }, gb.ones { 1, 4 }, { reduction = "max" })
  raises("take_along_axis: index 4 of axis 1 is outside 0 to 3", x.take_along_axis, x, whole { { 4 } }, 1)
  raises("indices int64[2] for float32[6, 4]; both need 2 dimensions", x.take_along_axis, x, i, 1)
  raises("take_along_axis: shapes [6, 1] and [5, 1] do not broadcast",
    x.take_along_axis, x, gb.zeros({ 5, 2 }, { dtype = "int64" }), 1)
  raises("reflect padding of 4 elements beside axis 1 of float32[6, 4]; at most 3 are possible",
    gb.pad, x, { { 0, 0 }, { 4, 0 } }, "reflect")
  raises("symmetric padding of 7 elements beside axis 0", gb.pad, x, { { 7, 0 }, { 0, 0 } }, "symmetric")
  raises("unknown mode 'edge' (known: constant, reflect, symmetric", gb.pad, x, 1, "edge")
  raises("a step of 0 never arrives", gb.arange, 0, 3, 0)
  raises("the shape [-2] has a negative extent", gb.linspace, 0, 1, -2)
  raises("the shape [-1, -1] has a negative extent", gb.eye, -1)
end)

case("equations that are none", function()
  local a, b = gb.ones { 2, 3 }, gb.ones { 3, 4 }
  raises("'ij,jk->ik' has 2 operands, got 1 tensors", gb.einsum, "ij,jk->ik", a)
  raises("'ijk' names 3 dimensions, float32[2, 3] has 2", gb.einsum, "ijk->i", a)
  raises("'i' names 1 dimensions, float32[2, 3] has 2", gb.einsum, "i->i", a)
  raises("'ii' repeats 'i', which would be a diagonal", gb.einsum, "ii->i", gb.ones { 2, 2 })
  raises("'j' is 3 in one operand and 4 in another", gb.einsum, "ij,kj->ik", a, gb.ones { 5, 4 })
  raises("no operand has 'z' of the result", gb.einsum, "ij->z", a)
  raises("the result repeats 'i'", gb.einsum, "ij->ii", a)
  raises("'1' is no label", gb.einsum, "i1->i", a)
  raises("two ellipses in one operand", gb.einsum, "......->", a)
  raises("sums of products need floating-point operands, got int64[3]", gb.einsum, "i,i->", gb.arange(3), gb.arange(3))
  raises("differ in type", gb.einsum, "i,i->i", gb.arange(3), gb.ones { 3 })
  equal(gb.einsum("ij,jk->ik", a, b).shape, { 2, 4 })
end)

case("places change in a compiled function, without a new plan", function()
  local step = gb.compile(function(cache, key, position)
    local after = cache:slice_update({ 0, position, 0 }, key)
    return after, after:slice({ 0, position, 0 }, { -1, 1, -1 })
  end)
  local cache = gb.zeros { 2, 5, 3 }
  for position = 0, 4 do
    local key = gb.random.normal({ 2, 1, 3 }, { seed = position })
    local read
    cache, read = step(cache, key, whole(position))
    equal(values(read), values(key))
  end
  equal(step.traces, 1)
  testing.is_true(cache:abs():min():item() > 0)
  local token = gb.compile(function(logits)
    local best, at = logits:top_k(3)
    return at:gather(best:argmax())
  end)
  equal(token(gb.tensor { 0.1, 5.0, 0.3, 2.0 }):item(), 1)
end)

case("in 16 bits as in float32, rounded once", function()
  for _, dtype in ipairs { "float16", "bfloat16" } do
    local exact = gb.tensor { { 1, 5, 3, -2 }, { 0.5, 2, -4, 8 } }
    local half = exact:cast(dtype)
    for name, f in pairs {
      sort = function(v) return v:sort() end, top_k = function(v) return (v:top_k(2)) end,
      argsort = function(v) return v:argsort(0) end, roll = function(v) return v:roll(1, 1) end,
      prod = function(v) return v:prod(1) end, cumprod = function(v) return v:cumprod(1) end,
      tril = function(v) return v:tril() end, reflect = function(v) return gb.pad(v, 1, "reflect") end,
      scatter_update = function(v) return v:scatter_update(whole { { 1, 2 } }, v[1][{ 2, 2 }]) end,
      scatter = function(v) return gb.scatter(whole { { 1 }, { 1 } }, v, { 3, 4 }) end,
      slice_update = function(v) return v:slice_update({ whole(1), 0 }, v[{ { 1, 1 }, { 1, 2 } }]) end,
      take_along_axis = function(v) return v:take_along_axis(whole { { 3, 0 }, { 1, 1 } }, 1) end,
      einsum = function(v) return gb.einsum("ij,kj->ik", v, v) end, split = function(v) return v:split(2, 1)[2] end,
    } do
      local got = f(half)
      equal(values(got:cast "float32"), values(f(exact):cast(dtype):cast "float32"))
      testing.is_true(got.dtype == dtype or name == "argsort", name)
    end
    for name, f in pairs {
      sin = function(v) return v:sin() end, cos = function(v) return v:cos() end, log1p = function(v)
        return v:abs():log1p()
      end, logsumexp = function(v) return v:logsumexp(1) end,
    } do
      local apart = (f(half):cast "float32" - f(exact)):abs():max():item()
      testing.is_true(apart < (dtype == "float16" and 5e-3 or 4e-2), name .. " " .. apart)
    end
  end
end)

--- The model of a function of one symbol computes what the function computes of a tensor, and is saved.
local function same(fn, example)
  local symbol = gb.Input { shape = { table.unpack(example.shape, 2) } }
  local model = gb.Model { inputs = symbol, outputs = fn(symbol) }
  equal(values(model(example)), values(fn(example)))
  local path = gb._native.options.out .. "/results/functions"
  model:save(path)
  equal(values(gb.load_model(path)(example)), values(fn(example)))
end

case("on symbols of a model, which is saved and loaded", function()
  same(function(v) return v:sin() + v:cos() * v:tan() - v:arctan() end, x)
  same(function(v) return v:expm1() + v:log1p() + v:pow(2) end, x)
  same(function(v) return v:stop_gradient() * v end, x)
  same(function(v) return v:sort() - v:sort(-1) * 2 end, x)
  same(function(v) return v:argsort() end, x)
  same(function(v) return v:prod(1, true) + v:logsumexp(-1, true) end, x)
  same(function(v) return v:cumprod(1):roll(1, 1) end, x)
  same(function(v) return v:repeated(2, 1) end, x)
  same(function(v) return gb.pad(v, { { 0, 0 }, { 1, 2 } }, "reflect") end, x)
  same(function(v) return gb.einsum("bi,bi->b", v, v) end, x)
  same(function(v) return gb.einsum("bi,bj->bij", v, v:relu()) end, x)
  same(function(v) return v:slice({ 0, 1 }, { -1, 2 }) end, x)
  same(function(v)
    local parts = v:split(2, 1)
    return parts[1] * parts[2]
  end, x)
  same(function(v)
    local parts = v:split({ 1, 3 }, -1)
    equal(#parts, 3)
    return gb.concat({ parts[3], parts[1], parts[2] }, 1)
  end, x)
  same(function(v)
    local parts = v:unstack(1)
    equal(#parts, 4)
    return parts[1] - parts[4]
  end, x)
  same(function(v)
    local best, at = v:top_k(2)
    return best + at:cast "float32"
  end, x)
  local symbol = gb.Input { shape = { 4 } }
  raises("axis 0 cannot be taken apart: the examples are float32[4], and axis 0 is the batch", symbol.unstack, symbol)
  raises("0 parts; 1 to 1024 are possible", symbol.split, symbol, 0, 1)
  raises("its result must keep the batch as the first dimension", symbol.split, symbol, { 2 })
  raises("the largest 5 of 4 elements", symbol.top_k, symbol, 5)
end)

case("a model with them trains", function()
  local input = gb.Input { shape = { 6 } }
  local hidden = gb.layers.Dense(8, { activation = function(v) return v:sin() end })(input)
  local gate, content = table.unpack(hidden:split(2, -1))
  local best = (gb.einsum("bi,bi->bi", gate, content)):top_k(3)
  local model = gb.Model { inputs = input, outputs = gb.layers.Dense(1)(best) }
  model:compile { optimizer = "adam", loss = "mse" }
  local inputs, labels = gb.random.normal({ 32, 6 }, { seed = 3 }), gb.random.normal({ 32, 1 }, { seed = 4 })
  local before = model:evaluate(inputs, labels, { verbose = 0 }).loss
  model:fit(inputs, labels, { epochs = 30, verbose = 0 })
  testing.is_true(model:evaluate(inputs, labels, { verbose = 0 }).loss < before)
  testing.is_true(model:memory(32).total > 0)
end)

case("in the map of a dataset", function()
  local rows = gb.data.Dataset.from_tensor_slices { x }:map(function(row)
    return row:sort(), row:roll(1), row:sin():cumprod(), row:prod(), (row:top_k(2))
  end)
  local number = 0
  for sorted, rolled, sines, product, best in rows:iter() do
    number = number + 1
    local row = x[number]
    equal(values(sorted), values(row:sort()))
    equal(values(rolled), values(row:roll(1)))
    near((sines - row:sin():cumprod()):abs():max():item(), 0, 1e-6)
    near(product:item(), row:prod():item(), 1e-6)
    equal(values(best), values((row:top_k(2))))
  end
  equal(number, 6)
end)

case("positions of a transformer, and a step without gradients", function()
  local angles = gb.einsum("i,j->ij", gb.arange(0, 8, 1):cast "float32", gb.tensor { 1, 0.01 })
  near((angles:sin():square() + angles:cos():square() - 1):abs():max():item(), 0, 1e-6)
  local online, target = gb.layers.Dense(2), gb.layers.Dense(2)
  local tape <close> = gb.tape()
  local loss = (online(x) - target(x):stop_gradient()):square():mean()
  local gradients = tape:gradient(loss, { online.variables[1], target.variables[1] })
  testing.is_true(gradients[1]:abs():max():item() > 0)
  equal(gradients[2], false)
end)

case("of nothing, and of one element", function()
  local none = gb.zeros { 3, 0 }
  equal(values(none:prod(1)), values(gb.ones { 3 }))
  equal(none:sort().shape, { 3, 0 })
  equal(none:cumprod(1).shape, { 3, 0 })
  equal(none:roll(2, 1).shape, { 3, 0 })
  equal(#none:unstack(1), 0)
  equal(none:logsumexp(1):to_table(), { -math.huge, -math.huge, -math.huge })
  equal(gb.tensor(3.0):prod():item(), 3.0)
  equal(gb.arange(0).shape, { 0 })
  equal(gb.ones({ 4 }):repeated(0).shape, { 0 })
  equal(values(gb.zeros({ 2 }):scatter_update(gb.zeros({ 0, 1 }, { dtype = "int64" }), gb.zeros { 0 })),
    values(gb.zeros { 2 }))
end)
