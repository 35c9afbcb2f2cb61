local gb = require "gpubench"
local testing = require "testing"

--- Nested values of a tensor as text.
local function text(value)
  if type(value) == "userdata" then value = value:to_table() end
  if type(value) ~= "table" then return tostring(value) end
  local parts = {}
  for i, part in ipairs(value) do parts[i] = text(part) end
  return "{" .. table.concat(parts, ",") .. "}"
end

--- What `fn` makes of the tensor eagerly, compiled, and as a map of its rows, which must agree.
local function check(expected, x, fn)
  testing.equal(text(fn(x)), expected)
  testing.equal(text(gb.compile(fn)(x)), expected)
  for row in gb.data.Dataset.from_tensor_slices(gb.stack { x, x }):map(fn):iter() do
    testing.equal(text(row), expected)
  end
end

local function int(values) return gb.tensor(values, { dtype = "int64" }) end

testing.case("shapes", function()
  local x = int { { 1, 2, 3 }, { 4, 5, 6 } }
  check("{{{1,2,3}},{{4,5,6}}}", x, function(t) return t:expand_dims(1) end)
  check("{{{1},{2},{3}},{{4},{5},{6}}}", x, function(t) return t:expand_dims(-1) end)
  check("{1,2,3}", x, function(t) return t[{ 1 }]:squeeze() end)
  check("{{1},{4}}", x, function(t) return t[{ {}, { 1 } }]:expand_dims(0):squeeze(0) end)
  check("{{6,5,4},{3,2,1}}", x, function(t) return t:reverse() end)
  check("{{3,2,1},{6,5,4}}", x, function(t) return t:reverse(-1) end)
  check("{{1,2,3,1,2,3},{4,5,6,4,5,6}}", x, function(t) return t:tile { 1, 2 } end)
  check("{{1,4},{2,5},{3,6}}", x, function(t) return gb.stack({ t[1], t[2] }, -1) end)
  check("{{7,7,7,7},{7,1,2,3},{7,4,5,6}}", x, function(t) return gb.pad(t, { { 1, 0 }, { 1, 0 } }, 7) end)
  check("{{0,0,0},{4,5,6}}", x, function(t) return gb.pad(t[{ 2 }], { { 1, 0 }, { 0, 0 } }) end)
  check("{{3,1},{6,4}}", x, function(t) return t:gather(int { 2, 0 }, 1) end)
  check("{{4,5,6}}", x, function(t) return t:gather(int { 1 }) end)
end)

testing.case("indices may be a table", function()
  local x = gb.tensor { { 1, 2, 3 }, { 4, 5, 6 } }
  testing.equal(x:gather({ 2, 0 }, 1):to_table(), { { 3.0, 1.0 }, { 6.0, 4.0 } })
  testing.equal(x:gather({ { 1 }, { 0 } }).shape, { 2, 1, 3 })
  testing.equal(x:gather(1):to_table(), { 4.0, 5.0, 6.0 })
  testing.equal(x:take_along_axis({ { 2 }, { 0 } }, -1):to_table(), { { 3.0 }, { 4.0 } })
  testing.equal(gb.compile(function(t) return t:gather { 1 } end)(x):to_table(), { { 4.0, 5.0, 6.0 } })
  local input = gb.Input { 3 }
  local model = gb.Model { inputs = input, outputs = input:gather({ 2, 0 }, 1) }
  testing.equal(model(x):to_table(), { { 3.0, 1.0 }, { 6.0, 4.0 } })
  testing.raises("1.5", x.gather, x, { 1.5 })
end)

testing.case("a gathered axis is where the axis was", function()
  local x = gb.random.uniform { 2, 3, 4, 5 }
  local taken = x:gather(int { { 2, 0 }, { 1, 1 } }, 1)
  testing.equal(text(taken.shape), "{2,2,2,4,5}")
  testing.equal(text(taken[2][1][2]), text(x[2][1]))
end)

testing.case("numbers", function()
  local x = gb.tensor { 1.5, -2.5, 0.25 }
  check("{1.0,-1.0,0.25}", x, function(t) return t:clip(-1, 1) end)
  check("{2.0,-2.0,1.0}", x, function(t) return t:ceil() end)
  check("{2.0,-2.0,0.0}", x, function(t) return t:round() end)
  check("{0.0,-2.0,0.0}", x, function(t) return t // 1.5 + 0 * t - gb.where(t:gt(1), 1, 0) end)
  check("{0.5,0.5,0.25}", x, function(t) return t % 1 end)
  check("{false,false,false}", x, function(t) return t:is_nan() end)
  check("1", x, function(t) return t:argmin() end)
  testing.equal(text(int { 7, -7 } // 2), "{3,-4}")
  testing.equal(text(int { 7, -7 } % 3), "{1,2}")
  testing.equal(gb.tensor({ 3, 0, 200 }, { dtype = "uint8" }):argmin():item(), 1)
  testing.equal(int { 3, -5, 200 }:argmin():item(), 1)
  testing.equal(gb.tensor({ 1, 3 }):variance():item(), 1.0)
  testing.equal(gb.tensor({ { 1, 3 }, { 2, 6 } }):std(1):to_table()[2], 2.0)
end)

testing.case("integers are exact", function()
  local large = 9007199254740993 -- 2^53 + 1 is no double
  testing.equal(int(large):item(), large)
  testing.equal(text(int { large, math.mininteger }), "{9007199254740993,-9223372036854775808}")
  testing.equal((int { 1 } + large)[1]:item(), large + 1)
  testing.equal(text(int { 1, 2 }:clip(large, math.maxinteger)), "{9007199254740993,9007199254740993}")
  testing.equal(gb.full({}, large, { dtype = "int64" }):item(), large)
  testing.equal(text(gb.pad(int { 1 }, { { 0, 1 } }, large)), "{1,9007199254740993}")
  testing.is_true(tostring(int { large }):find("[9007199254740993]", 1, true))
  testing.equal(int { 3.0, true }[1]:item(), 3)
  testing.raises("1.5 is no int64", int, 1.5)
  testing.raises("9.223372036854776e+18 is no int64", int, 2.0 ^ 63)
  testing.raises("inf is no int64", int, math.huge)
  testing.raises("300 is no uint8", gb.tensor, 300, { dtype = "uint8" })
  testing.raises("-1 is no uint8", gb.full, { 2 }, -1, { dtype = "uint8" })
  testing.equal(gb.tensor(large):item(), 2.0 ^ 53)
end)

testing.case("in gb.where a number takes the tensor's dtype", function()
  local x = int { 1, 2 }
  check("{1,0}", x, function(t) return gb.where(t:lt(2), t, 0) end)
  check("{-1,2}", x, function(t) return gb.where(t:lt(2), -1, t) end)
  check("{1.0,0.0}", x, function(t) return gb.where(t:lt(2), 1, 0) end)
  check("{{5,0},{0,6}}", x,
    function(t) return gb.where(gb.tensor { { true, false }, { false, true } }, t + 4, { 0, 0 }) end)
  testing.raises("0.5 is no int64", gb.where, x:lt(2), x, 0.5)
  testing.raises("argument #3: Tensor, number or table of numbers expected, got string", gb.where, x:lt(2), x, "x")
end)

testing.case("any and all", function()
  local x = int { { 0, 1 }, { 0, 0 } }
  check("{true,false}", x, function(t) return t:ne(0):any(1) end)
  check("{true,false}", x, function(t) return t:eq(0):all(0) end)
  check("{{true}}", x, function(t) return t:ne(0):any(nil, true) end)
  testing.raises("any takes bool, got int64[2, 2]; x:ne(0) makes one", function() x:any() end)
end)

testing.case("gradients flow through shapes", function()
  local x = gb.Variable { { 1, 2 }, { 3, 4 } }
  local tape = gb.tape()
  local y = (gb.pad(x:reverse(0), { { 1, 1 }, { 0, 0 } }, 5) * gb.tensor { 1, 10 }):sum()
  testing.equal(text(tape:gradient(y, x)), "{{1.0,10.0},{1.0,10.0}}")
end)

testing.case("wrong arguments are named", function()
  local x = gb.zeros { 2, 3 }
  testing.raises("axis 3 is outside of -3 to 2, where float32[2, 3] can get a dimension", x.expand_dims, x, 3)
  testing.raises("axis 0 of float32[2, 3] is not 1", x.squeeze, x, 0)
  testing.raises("squeeze: axis 2 is outside float32[2, 3]", x.squeeze, x, 2)
  testing.raises("reverse: axis 0 is given twice", x.reverse, x, { 0, 0 })
  testing.raises("1 multiples for float32[2, 3], which has 2 dimensions", x.tile, x, { 2 })
  testing.raises("a multiple of 0; at least 1 is needed", x.tile, x, { 0, 1 })
  testing.raises("stack needs at least one tensor", gb.stack, {})
  testing.raises("float32[2, 3] and float32[3] differ in shape", gb.stack, { x, gb.zeros { 3 } })
  testing.raises("3 paddings for float32[2, 3]; one {before, after} for each dimension is needed", gb.pad,
    x, { { 1, 1 }, { 1, 1 }, { 1, 1 } })
  testing.raises("0 paddings for float32[2, 3]", gb.pad, x, {})
  testing.raises("padding 2 is not {before, after}, each 0 or more", gb.pad, x, { { 0, 0 }, { 1 } })
  testing.raises("padding 1 is not {before, after}, each 0 or more", gb.pad, x, { { -1, 0 }, { 1, 1 } })
  testing.raises("clip(low, high): two bounds are needed", x.clip, x, 1)
end)

testing.case("tensors of any shape have a text, and few empty tables", function()
  local none = gb.zeros { 1 << 33, 0 }
  testing.equal(tostring(none):match "\n(.*)", "[[],\n [],\n [],\n ...,\n [],\n [],\n []]")
  testing.raises("to_table: float32[8589934592, 0] would be 8589934592 empty tables; at most 1000000 are made",
    none.to_table, none)
  testing.equal(#gb.zeros({ 3, 0 }):to_table(), 3)
  local high = {}
  for k = 1, 31 do high[k] = 2 end
  high[32] = 0
  testing.is_true(#tostring(gb.zeros(high)) < 1e6, "a text of moderate length")
  testing.is_true(#tostring(gb.zeros { 8, 8, 8, 8, 8, 8, 8 }) < 1e6, "a text of moderate length")
end)
