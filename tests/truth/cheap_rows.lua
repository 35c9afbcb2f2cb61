-- Forty rows that take a few milliseconds each, for tests/truth/compare: products, element-wise functions, reductions
-- and two kinds of work without the engine. `slower` adds a busy wait of that share of each call's own time.
local gb = require "gpubench"

local slower = gb.param("slower", 0.0)
local seconds_of_row = 0.02

local function square(size)
  return gb.random.normal({ size, size })
end

local works = {
  matmul = function(size)
    local a, b = square(size), square(size)
    return gb.compile(function(x, y) return gb.matmul(x, y) end), a, b
  end,
  relu = function(size) return gb.compile(function(x) return x:relu() end), square(size) end,
  sum = function(size) return gb.compile(function(x) return x:sum() end), square(size) end,
  arithmetic = function(size)
    return function()
      local sum = 0
      for i = 1, 50 * size do sum = sum + i % 7 end
      return sum
    end
  end,
  tables = function(size)
    return function()
      local list = {}
      for i = 1, 10 * size do list[i] = { i } end
      return list
    end
  end,
}

local function median(list)
  table.sort(list)
  return list[(#list + 1) // 2]
end

-- Median seconds of a call, over as many as fit.
local function time_of(call, wait)
  local times, begin = {}, gb.clock()
  repeat
    local from = gb.clock()
    call()
    while gb.clock() - from < wait do end
    local now = gb.clock()
    times[#times + 1] = now - from
  until now - begin > seconds_of_row and #times >= 11
  return median(times)
end

gb.experiment {
  name = "cheap_rows",
  title = "Forty rows that take a few milliseconds each",
  axes = {
    gb.axis("work", { "matmul", "relu", "sum", "arithmetic", "tables" }, { closed = true }),
    gb.axis("size", { 32, 48, 64, 96, 128, 160, 192, 256 }),
  },
  run = function(point)
    local work = table.pack(works[point.work](point.size))
    local call = function() return work[1](table.unpack(work, 2, work.n)) end
    time_of(call, 0)  -- warm
    local own = slower > 0 and time_of(call, 0) or 0
    return { call_s = time_of(call, own * (1 + slower)) }
  end,
}
