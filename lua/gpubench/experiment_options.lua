-- What a script gives gb.experiment: which fields there are, and what is wrong with them.
local axis = require "gpubench.axis"
local chart = require "gpubench.chart"
local check = require "gpubench.check"
local claim = require "gpubench.expect.claim"
local columns = require "gpubench.columns"
local param = require "gpubench.param"
local native = require("gpubench.native")._native

local experiment_options = {}

local fields = {
  { "name", "string", required = "it names the folders of results" },
  { "title", "string", required = "it is the headline of the report" },
  { "topic", "string" },
  { "needs", "string" },
  { "question", "string" },
  { "cause", "string" },
  { "remedy", "string" },
  { "reading", "string" },
  { "answer", "function" },
  { "axes", "array" },
  { "run", "function", required = "a function that measures a point and returns a table of columns" },
  { "skip", "function" },
  { "seconds", "function" },
  { "columns", "array" },
  { "trials", "integer" },
  { "charts", "array" },
  { "expect", "array" },
}

local most_trials = 1000

local function as_table(values)
  if type(values) ~= "table" then return "{ ... }" end
  local texts = {}
  for index, value in ipairs(values) do
    texts[index] = type(value) == "string" and string.format("%q", value) or tostring(value)
  end
  return "{ " .. table.concat(texts, ", ") .. " }"
end

-- axes = { width = { 8, 16 } } is said as { gb.axis("width", { 8, 16 }) }.
local function refuse_named_axes(where, axes)
  local calls = {}
  for _, name in ipairs(check.sorted_keys(axes)) do
    if axes[name] ~= nil then calls[#calls + 1] = string.format('gb.axis("%s", %s)', name, as_table(axes[name])) end
  end
  if #calls > 0 then
    check.fail("%s: option 'axes': an axis is made by gb.axis: axes = { %s }", where, table.concat(calls, ", "))
  end
end

local function check_declaration(declaration, declared)
  local where = "gb.experiment"
  if type(declaration) == "table" and type(declaration.axes) == "table" then
    refuse_named_axes(where, declaration.axes)
  end
  check.options(where, declaration, fields)
  if not declaration.name:find "^[%w_.-]+$" or declaration.name:find "^[.-]" then
    check.fail("%s: the name '%s' cannot be a folder's: letters, digits, '_', '-' and '.'", where, declaration.name)
  end
  if declared[declaration.name] then
    check.fail("%s: the script has declared an experiment '%s' already; each needs a name of its own, by which its " ..
      "results are found", where, declaration.name)
  end
  if not declaration.title:find "%S" then
    check.fail("%s: the title is empty; it is the headline of the report", where)
  end
  local seen = {}
  for index, one in ipairs(declaration.axes or {}) do
    if not axis.is(one) then check.fail("%s: axis %d is not made by gb.axis(name, values)", where, index) end
    if seen[one.name] then check.fail("%s: the axis '%s' is there twice", where, one.name) end
    if not native.results.may_be_axis(one.name) then
      check.fail("%s: the axis '%s' is named as a column that is measured; choose another name", where, one.name)
    end
    if param.values[one.name] ~= nil then
      check.fail("%s: the axis '%s' is the name of a gb.param too; choose another name", where, one.name)
    end
    seen[one.name] = true
  end
  for index, one in ipairs(declaration.charts or {}) do
    if not chart.is(one) then
      check.fail("%s: chart %d is not made by gb.chart.line or another of gb.chart", where, index)
    end
  end
  for index, one in ipairs(declaration.expect or {}) do
    if not claim.is(one) then
      check.fail("%s: expectation %d is not made by gb.expect.increasing or another of gb.expect", where, index)
    end
  end
  local trials = declaration.trials or native.statistics.least_for_interval
  if trials < native.statistics.least_for_interval or trials > most_trials then
    check.fail("%s: option 'trials': %d; an interval of 95 %% takes at least %d, and at most %d are possible",
      where, trials, native.statistics.least_for_interval, most_trials)
  end
end

-- A checked copy of a script's declaration, with the columns as claims, tables and charts know them.
-- declared: the names that the script has used for others.
function experiment_options.read(declaration, declared)
  check_declaration(declaration, declared)
  local copy = {}
  for name, value in pairs(declaration) do copy[name] = value end
  copy.columns = columns.read("gb.experiment", declaration.columns or {})
  return copy
end

return experiment_options
