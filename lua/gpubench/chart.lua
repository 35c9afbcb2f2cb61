-- gb.chart: which columns of a run are drawn, and how. Drawing is the report's business.
local check = require "gpubench.check"

local fields = {
  { "x", "string", required = true },
  { "y", "string", required = true },
  { "series", "string|array" },
  { "log_x", "number|boolean" },
  { "log_y", "number|boolean" },
  { "name", "string" },
  { "title", "string" },
}

local function base_of_logarithm(where, name, value)
  if value == true then return 10 end
  if value == false then return nil end
  if value and value <= 1 then
    check.fail("%s: option '%s': the base of a logarithm is above 1, got %g", where, name, value)
  end
  return value
end

local function kind(name)
  return function(options)
    local where = "gb.chart." .. name
    check.options(where, options, fields)
    local chart = { kind = name }
    for key, value in pairs(options) do chart[key] = value end
    -- Axes that vary beside x and the first of these make series of their own.
    if type(chart.series) == "table" then chart.series = chart.series[1] end
    chart.log_x = base_of_logarithm(where, "log_x", options.log_x)
    chart.log_y = base_of_logarithm(where, "log_y", options.log_y)
    return chart
  end
end

return { line = kind "line", bar = kind "bar" }
