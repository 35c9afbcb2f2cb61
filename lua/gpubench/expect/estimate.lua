-- Figures of a row with their 95 % intervals, and comparisons that respect them.
local gb = require "gpubench.native"
local native = gb._native

local estimate = {}

local function is_number(value)
  return type(value) == "number" and value == value
end

-- The columns of an interval's ends: step_time_s has step_time_low_s and step_time_high_s, loss has loss_low and
-- loss_high.
local function ends_of(row, column)
  local stem, unit = column:match "^(.-)(_per_s)$"
  if not stem then stem, unit = column:match "^(.-)(_%a+)$" end
  for _, parts in ipairs { { stem, unit }, { column, "" } } do
    if parts[1] then
      local low, high = row[parts[1] .. "_low" .. parts[2]], row[parts[1] .. "_high" .. parts[2]]
      if is_number(low) and is_number(high) then return low, high end
    end
  end
end

-- Rates and utilizations without an interval of their own follow from the step time, so they share its relative interval.
local from_step_time = { examples_per_s = true, flops_per_s = true, mfu = true }

-- { value, low, high }, or nil when the row has no such figure. A figure without an interval is taken as exact.
function estimate.of(row, column)
  local value = row[column]
  if not is_number(value) then return nil end
  local low, high = ends_of(row, column)
  local time, time_low, time_high = row.step_time_s, row.step_time_low_s, row.step_time_high_s
  if not low and from_step_time[column] and is_number(time) and is_number(time_low) and is_number(time_high) then
    low, high = value * time / time_high, value * time / time_low
  end
  return { value = value, low = low or value, high = high or value }
end

-- A row's quality is about what was measured; what was counted or computed (a loss, an accuracy) is sound in any case.
function estimate.is_sound(row, column)
  return not row.quality or row.quality == "ok" or not native.results.depends_on_quality(column)
end

-- Both figures are non-negative, as times, rates and bytes are.
function estimate.ratio(a, b)
  return { value = a.value / b.value, low = a.low / b.high, high = a.high / b.low }
end

function estimate.show(column, value)
  if column:find "_per_s$" then return gb.format.si(value) .. "/s" end
  if column:find "_s$" then return gb.format.seconds(value) end
  if column:find "_bytes$" then return gb.format.bytes(value) end
  return string.format("%.4g", value)
end

function estimate.show_interval(column, one)
  if one.low == one.high then return estimate.show(column, one.value) end
  return string.format("%s [%s, %s]", estimate.show(column, one.value), estimate.show(column, one.low),
    estimate.show(column, one.high))
end

return estimate
