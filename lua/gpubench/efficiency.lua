-- What n replicas make of n devices, by rows of gb.measure.training: weak scaling keeps the batch of each replica,
-- strong scaling the batch of all.
local check = require "gpubench.check"

local columns = { weak = "weak_efficiency", strong = "strong_efficiency" }

local function rate(row, index)
  check.kind(index .. ".examples_per_s", row.examples_per_s, "number")
  if not (row.examples_per_s > 0) then
    check.fail("%s.examples_per_s: a rate above 0 is expected, got %g", index, row.examples_per_s)
  end
  return row.examples_per_s, row.examples_low_per_s or row.examples_per_s, row.examples_high_per_s or row.examples_per_s
end

-- The mean of the baselines' rates, and all that their intervals cover.
local function baseline_rate(rows, row, kind)
  local sum, lowest, highest = 0, math.huge, 0
  for index, baseline in ipairs(rows) do
    local name = "gb.measure.efficiency: baseline " .. index
    if baseline.replicas ~= 1 then
      check.fail("%s: a row of one replica is expected, by a strategy of one device; it has %s", name,
        tostring(baseline.replicas))
    end
    local batch = kind == "weak" and row.batch_size / row.replicas or row.batch_size
    if baseline.batch_size ~= batch then
      check.fail("%s: %s scaling of %d replicas with %d examples relates to one with %g; it has %d", name, kind,
        row.replicas, row.batch_size, batch, baseline.batch_size)
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
  if math.type(row.replicas) ~= "integer" then
    check.fail "gb.measure.efficiency: argument #1: a row of gb.measure.training is expected"
  end
  local value, low, high = rate(row, "gb.measure.efficiency: argument #1")
  local alone, alone_low, alone_high = baseline_rate(baselines, row, kind)
  local n = row.replicas
  row[column], row[column .. "_low"], row[column .. "_high"] =
    value / (n * alone), low / (n * alone_high), high / (n * alone_low)
  return row
end
