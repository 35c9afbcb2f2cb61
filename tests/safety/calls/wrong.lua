-- Values that no function expects: numbers and texts at limits, tables that lie about themselves, and those on which
-- what recurs, copies or counts could stumble. integers, numbers and texts are values, the others functions that make
-- one.
local gb = require "gpubench"

local wrong = {}

wrong.integers = { 0, 1, -1, 2, 3, 4, 5, 7, 16, 100, 1000, 1 << 20, 1 << 31, (1 << 31) - 1, 1 << 32, 1 << 53, 1 << 61,
  1 << 62, math.maxinteger, math.mininteger, -2, -5, -(1 << 31), -(1 << 32) }

wrong.numbers = { 0.0, -0.0, 0.5, 1.0, -1.5, 2.5, 1e-308, 1e308, -1e308, 1e19, math.huge, -math.huge, 0 / 0 }

wrong.texts = { "", "\0", "a\0b", "%s%n", ("x"):rep(5000), ("x"):rep(1 << 20), "\xff\xfe", "]]>", "[", ("["):rep(2000),
  "{epoch}", "{", "{}", "{0}", "{:d}",
  "1", "-1", " 3 ", "3.0", "0x10", "1e308", "1e999", "nan", "-inf", "9223372036854775808", "true",
  "float32[", "float32[-1]", "float32[4611686018427387904,4]", "cpu:-1", "cpu:99999999999999999999", "gpu:0",
  "../x", "/", ".", "**", "results", "/dev/zero", "/dev/full", "/proc/self/mem", "/proc/self/maps", "/dev/fd/0",
  ("../"):rep(50), ("a/"):rep(3000) }

local function with(metatable) return function() return setmetatable({}, metatable) end end
wrong.lying = {
  function()
    return setmetatable({}, { __len = function() return wrong.integers[math.random(#wrong.integers)] end })
  end,
  with { __len = function() coroutine.yield(1) return 2 end, __index = function() coroutine.yield(1) end },
  with { __index = function() error "index" end },
  with { __index = function(_, k) return k end },
  function() return setmetatable({}, { __index = gb.ones { 3 }, __len = function() return 3 end }) end,
  with { __tostring = function() error "text" end },
  with { __pairs = function() return error end },
  with { __call = function(...) return ... end },
  with { __name = "Tensor" },
  with { __eq = function() error "eq" end, __lt = function() return 1 end, __concat = function() return gb end },
  with { __metatable = "Tensor", __gc = function() gb.ones { 1 } end },
  with { __close = function() error "close" end, __gc = function() error "gc" end },
}

local function nested(depth)
  local t = {}
  for _ = 1, depth do t = { t } end
  return t
end
wrong.tables = {
  function() return nested(40) end,
  function() return nested(5000) end,
  function()
    local cyclic = { 1 }
    cyclic[2] = { cyclic, cyclic }
    return cyclic
  end,
  function()
    local long = {}
    for k = 1, 20000 do long[k] = k end
    return long
  end,
  function() return { 1, nil, 3, nil, nil, 6 } end,
  function() return { [0] = 1, [-1] = 2, [1.5] = 3, [math.maxinteger] = 4 } end,
  function() return { [{}] = 1, [print] = 2, [true] = 3 } end,
  function() return { { 1, 2 }, { 3 } } end,
  function() return { { 1, "2" }, { 3.5, true } } end,
}

wrong.coroutines = {
  function() return coroutine.create(function() end) end,
  function() return coroutine.create(function() while true do coroutine.yield() end end) end,
  function() return (coroutine.running()) end,
  function()
    local dead = coroutine.create(error)
    coroutine.resume(dead)
    return dead
  end,
}

return wrong
