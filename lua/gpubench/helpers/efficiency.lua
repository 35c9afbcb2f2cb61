-- What n replicas make of n devices, by rows of gb.measure.training: weak scaling keeps the batch of each replica,
-- strong scaling the batch of all.
local check = require "gpubench.check"

local columns = { weak = "weak_efficiency", strong = "strong_efficiency" }

local function positive(where, row, column)
  local value = check.kind(where .. "." .. column, row[column], "number")
  if not (value > 0) then check.fail("%s.%s: a number above 0 is expected, got %g", where, column, value) end
  return value
end

-- The rate with the ends of its interval.
local function rate(row, where)
  local value = positive(where, row, "examples_per_s")
  local function end_of_interval(column)
    return row[column] == nil and value or positive(where, row, column)
  end
  return value, end_of_interval "examples_low_per_s", end_of_interval "examples_high_per_s"
end

-- The mean of the baselines' rates, and all that their intervals cover.
local function baseline_rate(rows, row, kind)
  local sum, lowest, highest = 0, math.huge, 0
  for index, baseline in ipairs(rows) do
    local name = "gb.measure.efficiency: baseline " .. index
    check.kind(name, baseline, "table")
    if baseline.replicas ~= 1 then
      check.fail("%s: a row of one replica is expected, by a strategy of one device; it has %s", name,
        tostring(baseline.replicas))
    end
    local batch = kind == "weak" and row.batch_size / row.replicas or row.batch_size
    if baseline.batch_size ~= batch then
      check.fail("%s: %s scaling of %d replicas with %g examples relates to one with %g; it has %s", name, kind,
        row.replicas, row.batch_size, batch, tostring(baseline.batch_size))
    end
    local value, low, high = rate(baseline, name)
    sum, lowest, highest = sum + value, math.min(lowest, low), math.max(highest, high)
  end
  return sum / #rows, lowest, highest
end

return function(row, baselines, kind)
  check.kind("gb.measure.efficiency: argument #1", row, "table")
  check.kind("gb.measure.efficiency: argument #2", baselines, "table")
  local column = columns[kind]
  if not column then
    check.fail("gb.measure.efficiency: argument #3: 'weak' or 'strong' is expected, got %s", tostring(kind))
  end
  if #baselines == 0 then baselines = { baselines } end
  local where = "gb.measure.efficiency: argument #1"
  if math.type(row.replicas) ~= "integer" then check.fail("%s: a row of gb.measure.training is expected", where) end
  positive(where, row, "replicas")
  positive(where, row, "batch_size")
  local value, low, high = rate(row, where)
  local alone, alone_low, alone_high = baseline_rate(baselines, row, kind)
  local n = row.replicas
  row[column], row[column .. "_low"], row[column .. "_high"] =
    value / (n * alone), low / (n * alone_high), high / (n * alone_low)
  return row
end
