-- The points of a sweep: the product of its axes, the last axis varying fastest.
local axis = require "gpubench.axis"
local check = require "gpubench.check"

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
    if not used[name] then
      check.fail("--set %s: there is no such axis (axes: %s)", name, table.concat(names(axes), ", "))
    end
  end
  return result
end

local Point = {}
Point.__index = function(point, name)
  check.fail("point: there is no axis '%s' (axes: %s)", tostring(name), table.concat(check.sorted_keys(point), ", "))
end

function sweep.points(axes)
  local points = { {} }
  for _, one in ipairs(axes) do
    local longer = {}
    for _, point in ipairs(points) do
      for _, value in ipairs(one.values) do
        local copy = { [one.name] = value }
        for name, other in pairs(point) do copy[name] = other end
        longer[#longer + 1] = copy
      end
    end
    points = longer
  end
  for _, point in ipairs(points) do setmetatable(point, Point) end
  return points
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
