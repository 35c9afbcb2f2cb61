-- gb.chart: which columns of a run are drawn, and how. Drawing is the report's business.
local check = require "gpubench.check"
local native = require("gpubench.native")._native

local chart = {}

local fields = {
  { "x", "string", required = true },
  { "y", "string", required = true },
  { "series", "string|array" },
  { "where", "table" },
  { "each", "string" },
  { "order", "string" },
  { "limit", "number" },
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

-- Fields of a kind: those of all, without some, and with some required.
local function fields_of(without, required)
  local list = {}
  for _, field in ipairs(fields) do
    local name = field[1]
    if not without[name] then
      list[#list + 1] = { name, field[2], required = required[name] or (field.required and without.x == nil) or nil }
    end
  end
  return list
end

local function kind(name, own_fields)
  return function(options)
    local where = "gb.chart." .. name
    check.options(where, options, own_fields)
    local made = copy_of(options)
    made.kind = name
    -- Axes that vary beside x and the first of these make series of their own.
    if type(made.series) == "table" then made.series = made.series[1] end
    made.log_x = base_of_logarithm(where, "log_x", options.log_x)
    made.log_y = base_of_logarithm(where, "log_y", options.log_y)
    made.limit, made.limits = nil, options.limit and { options.limit }
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

-- As files and messages call it.
function chart.name_of(one)
  return one.name or one.y and one.y .. "_by_" .. one.x or one.kind
end

local function chart_of_value(one, value)
  local made, axis = copy_of(one), one.each
  made.where = copy_of(one.where or {})
  made.where[axis] = value
  made.name = string.format("%s_%s_%s", chart.name_of(one), axis, tostring(value))
  made.title = one.title and string.format("%s, %s %s", one.title, native.results.heading(axis), tostring(value))
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

-- Whether what a claim is about is all that the chart shows.
local function is_about(claim, one)
  if claim.y ~= one.y then return false end
  for name, value in pairs(claim.where or {}) do
    if (one.where or {})[name] ~= value then return false end
  end
  return true
end

local function with_value(list, value)
  for _, known in ipairs(list or {}) do
    if known == value then return list end
  end
  local longer = table.move(list or {}, 1, #(list or {}), 1, {})
  longer[#longer + 1] = value
  return longer
end

-- Copies of the charts with the bounds that claims set for their figure.
function chart.with_limits(charts, claims)
  local list = {}
  for index, one in ipairs(charts) do
    list[index] = copy_of(one)
    for _, claim in ipairs(claims) do
      if (claim.kind == "at_least" or claim.kind == "at_most") and is_about(claim, one) then
        list[index].limits = with_value(list[index].limits, claim.value)
      end
    end
  end
  return list
end

-- Copies of the charts with the places of the knees that claims found.
function chart.with_knees(charts, claims, judged)
  local list = {}
  for index, one in ipairs(charts) do
    list[index] = copy_of(one)
    for number, claim in ipairs(claims) do
      if claim.kind == "knee" and claim.x == one.x and is_about(claim, one) then
        for _, finding in ipairs(judged[number].findings) do
          list[index].knees = with_value(list[index].knees, finding.x)
        end
      end
    end
  end
  return list
end

-- Of single steps, whose figures are in no column.
local of_samples = fields_of({ x = true, y = true, order = true, limit = true }, {})

chart.kinds = {
  line = kind("line", fields),
  bar = kind("bar", fields),
  heat = kind("heat", fields_of({ log_x = true, order = true, limit = true }, { series = "its values are the rows" })),
  distribution = kind("distribution", of_samples),
  course = kind("course", of_samples),
}

return chart
