-- Sizes whose product exceeds 64 bits, or any memory, are errors wherever a script gives them.
local gb = require "gpubench"
local testing = require "testing"

local huge, wide = math.maxinteger, 1 << 31
local x = gb.ones { 2 }
local calls = {
  zeros = function() return gb.zeros { 1 << 62 } end,
  zeros_of_int64 = function() return gb.zeros({ 1 << 61 }, { dtype = "int64" }) end,
  zeros_of_the_largest = function() return gb.zeros { huge } end,
  ones = function() return gb.ones { wide, wide } end,
  ones_that_wrap_to_0 = function() return gb.ones { 1 << 32, 1 << 32 } end,
  arange = function() return gb.arange(huge) end,
  uniform = function() return gb.random.uniform { wide, wide } end,
  normal = function() return gb.random.normal { 1 << 62 } end,
  pad = function() return gb.pad(x, { { huge - 1, 1 } }) end,
  one_hot = function() return gb.tensor({ 0, 1 }, { dtype = "int64" }):one_hot(1 << 62) end,
  reshape = function() return x:reshape { 3, 6148914691236517206 } end,
  resize = function() return gb.image.resize(gb.zeros { 2, 2, 3 }, { wide, wide }) end,
  dense = function() return gb.layers.Dense(huge)(gb.ones { 1, 1 }) end,
  dense_built = function() return gb.Sequential { gb.layers.Dense(wide, { input_shape = { wide } }) } end,
  conv = function() return gb.layers.Conv2D(1 << 62, 1)(gb.ones { 1, 2, 2, 1 }) end,
  synthetic = function()
    for _ in gb.data.Dataset.synthetic { types = { "float32[4611686018427387904]" }, count = 1 }:iter() do end
  end,
  tile = function() return x:tile { huge } end,
}

for name, call in pairs(calls) do
  testing.case(name, function()
    testing.refuses(call)
  end)
end
testing.case("layers.Reshape of extents whose product wraps", function()
  testing.refuses(function()
    gb.Sequential { gb.layers.Reshape({ 3, 6148914691236517206 }, { input_shape = { 2 } }) } (gb.ones { 1, 2 })
  end)
end)
