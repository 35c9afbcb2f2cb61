-- The points of a sweep: the product of its axes, the last axis varying fastest.
local axis = require "gpubench.axis"
local check = require "gpubench.check"
local native = require("gpubench.native")._native
local param = require "gpubench.param"

local sweep = {}

local function names(axes)
  local list = {}
  for index, one in ipairs(axes) do list[index] = one.name end
  return list
end

-- overrides: axis name -> array of texts. A device named on the command line stands for the whole axis "device".
function sweep.override(axes, overrides, device)
  local result, used = {}, {}
  for index, one in ipairs(axes) do
    local texts = overrides[one.name]
    if not texts and one.name == "device" and device then texts = { device } end
    result[index] = texts and axis.override(one, texts) or one
    used[one.name] = true
  end
  for _, name in ipairs(check.sorted_keys(overrides)) do
    if not used[name] and param.values[name] == nil then
      local parameters, known = check.sorted_keys(param.values), names(axes)
      local text = #parameters > 0 and "; parameters: " .. table.concat(parameters, ", ") or ""
      check.fail("--set %s: there is no such axis (axes: %s%s)%s", name, table.concat(known, ", "), text,
        native.results.suggestion(name, table.move(parameters, 1, #parameters, #known + 1, known)))
    end
  end
  return result
end

local Point = {}
Point.__index = function(point, name)
  check.fail("point: there is no axis '%s' (axes: %s)", tostring(name), table.concat(check.sorted_keys(point), ", "))
end

local most_points = 1000000

-- As a float, which does not wrap around.
local function count_points(axes)
  local count, factors = 1.0, {}
  for index, one in ipairs(axes) do
    count = count * #one.values
    factors[index] = string.format("%d of %s", #one.values, one.name)
  end
  if count <= most_points then return math.tointeger(count) end
  check.fail("gb.experiment: the axes make %.0f points (%s); at most %d are possible", count,
    table.concat(factors, ", "), most_points)
end

local function point_at(axes, index)
  local point, rest = {}, index - 1
  for number = #axes, 1, -1 do
    local one = axes[number]
    point[one.name] = one.values[rest % #one.values + 1]
    rest = rest // #one.values
  end
  return setmetatable(point, Point)
end

-- A list whose points are made when they are asked for.
function sweep.points(axes)
  local count = count_points(axes)
  return setmetatable({}, {
    __len = function() return count end,
    __index = function(_, index)
      return math.type(index) == "integer" and 1 <= index and index <= count and point_at(axes, index) or nil
    end,
  })
end

-- "device=cpu:0 batch_size=32"
function sweep.describe(axes, point)
  local parts = {}
  for index, one in ipairs(axes) do parts[index] = one.name .. "=" .. tostring(point[one.name]) end
  return table.concat(parts, " ")
end

-- What a run's files say of the axes.
function sweep.plain(axes)
  local list = {}
  for index, one in ipairs(axes) do list[index] = { name = one.name, values = one.values } end
  return list
end

sweep.names = names

return sweep
