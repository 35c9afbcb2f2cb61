-- Figures of a row with their 95 % intervals, and comparisons that respect them.
local gb = require "gpubench.native"
local native = gb._native

local estimate = {}

local function is_number(value)
  return type(value) == "number" and value == value
end

-- { value, low, high }, or nil when the row has no such figure. A figure without an interval is taken as exact.
function estimate.of(row, column)
  local value = row[column]
  if not is_number(value) then return nil end
  local low, high = row[native.results.interval_end(column, "low")], row[native.results.interval_end(column, "high")]
  if not is_number(low) or not is_number(high) then low, high = value, value end
  return { value = value, low = low, high = high }
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
