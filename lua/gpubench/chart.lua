-- gb.chart: which columns of a run are drawn, and how. Drawing is the report's business.
local check = require "gpubench.check"

local chart = {}

local fields = {
  { "x", "string", required = true },
  { "y", "string", required = true },
  { "series", "string|array" },
  { "where", "table" },
  { "each", "string" },
  { "log_x", "number|boolean" },
  { "log_y", "number|boolean" },
  { "name", "string" },
  { "title", "string" },
}

-- Charts that were made here, and not written by hand.
local made_here = setmetatable({}, { __mode = "k" })

function chart.is(value) return made_here[value] == true end

local function base_of_logarithm(where, name, value)
  if value == true then return 10 end
  if value == false then return nil end
  if value and value <= 1 then
    check.fail("%s: option '%s': the base of a logarithm is above 1, got %g", where, name, value)
  end
  return value
end

local function copy_of(values)
  local copy = {}
  for key, value in pairs(values) do copy[key] = value end
  return copy
end

local function kind(name)
  return function(options)
    local where = "gb.chart." .. name
    check.options(where, options, fields)
    local made = copy_of(options)
    made.kind = name
    -- Axes that vary beside x and the first of these make series of their own.
    if type(made.series) == "table" then made.series = made.series[1] end
    made.log_x = base_of_logarithm(where, "log_x", options.log_x)
    made.log_y = base_of_logarithm(where, "log_y", options.log_y)
    made_here[made] = true
    return made
  end
end

local function values_of(name, axes)
  local names = {}
  for index, axis in ipairs(axes) do
    if axis.name == name then return axis.values end
    names[index] = axis.name
  end
  check.fail("gb.chart: option 'each': there is no axis '%s' (axes: %s)", name, table.concat(names, ", "))
end

local function chart_of_value(one, value)
  local made, axis = copy_of(one), one.each
  made.each, made.where = nil, copy_of(one.where or {})
  made.where[axis] = value
  made.name = string.format("%s_%s_%s", one.name or one.y .. "_by_" .. one.x, axis, tostring(value))
  made.title = string.format("%s, %s %s", one.title or string.format("%s by %s", one.y, one.x), axis, tostring(value))
  return made
end

-- A chart with `each` becomes one for every value of that axis.
function chart.expand(charts, axes)
  local list = {}
  for _, one in ipairs(charts) do
    if one.each then
      for _, value in ipairs(values_of(one.each, axes)) do list[#list + 1] = chart_of_value(one, value) end
    else
      list[#list + 1] = one
    end
  end
  return list
end

chart.kinds = { line = kind "line", bar = kind "bar" }

return chart
