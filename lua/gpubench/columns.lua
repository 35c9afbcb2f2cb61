-- What is known of a column: { name, unit, better = "lower" | "higher" | "", kind, threshold, declared }. Names tell
-- it, the program's own columns have it in their table, and a script says it by gb.column where its name does not.
local check = require "gpubench.check"
local native = require("gpubench.native")._native
local results = native.results

local columns = {}

local fields = { { "unit", "string" }, { "better", "string" }, { "kind", "string" }, { "threshold", "string" } }
local made_here = setmetatable({}, { __mode = "k" })
local own = {}  -- of the experiment that runs, by name

-- gb.column
function columns.new(name, options)
  check.kind("gb.column: argument #1", name, "string")
  local where = "gb.column '" .. name .. "'"
  check.options(where, options, fields)
  local made = results.column(name)
  if made.declared then check.fail("%s: the program fills this column, and knows what it is", where) end
  for _, field in ipairs(fields) do made[field[1]] = options[field[1]] or made[field[1]] end
  if options.threshold then made.threshold = results.threshold(options.threshold) end
  results.check_column { name = name, unit = made.unit, better = made.better, kind = made.kind,
    threshold = made.threshold }
  made_here[made] = true
  return made
end

-- The list of gb.experiment, as columns.
function columns.read(where, list)
  local read = {}
  for index, one in ipairs(list) do
    if type(one) == "string" then
      read[index] = results.column(one)
    elseif type(one) == "table" and made_here[one] then
      read[index] = one
    else
      check.fail("%s: column %d is no name and not made by gb.column(name, options)", where, index)
    end
  end
  return read
end

function columns.declare(list)
  own = {}
  for _, one in ipairs(list) do own[one.name] = one end
end

function columns.of(name)
  return own[name] or results.column(name)
end

-- Whether a column by this name can be expected before a row has it.
function columns.is_known(name)
  if own[name] or results.column(name).declared then return true end
  for _, column in pairs(own) do
    if name == results.interval_end(column.name, "low") or name == results.interval_end(column.name, "high") then
      return true
    end
  end
  return false
end

function columns.names()
  return check.sorted_keys(own)
end

-- "lower" or "higher": what a script says (option 'better'), or what the column's name tells.
function columns.direction(where, name, better)
  better = better or columns.of(name).better
  if better == "lower" or better == "higher" then return better end
  check.fail("%s: whether '%s' is better lower or higher is not known: say it by the option 'better' (%s)", where, name,
    better == "" and "'lower' or 'higher'" or string.format("'lower' or 'higher', got '%s'", better))
end

-- Whether a busy machine changes figures of the column.
function columns.is_disturbed(name)
  return results.quality_column(columns.of(name).kind) == "quality"
end

-- Figures that only a repetition tells the scatter of: measured ones, and those of which nothing is known.
local scattered = { time = true, sensor = true, unknown = true }

-- Whether a claim about the column takes several rounds; what was learned, where a script has trials.
function columns.needs_rounds(name, has_trials)
  local kind = columns.of(name).kind
  return scattered[kind] or (kind == "learned" and has_trials) or false
end

return columns
