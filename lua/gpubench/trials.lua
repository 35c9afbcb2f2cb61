-- A figure of trials within one call of run: their median and its interval.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local order_interval = require "gpubench.order_interval"

return function(row, column, values)
  local one = order_interval.of(values)
  if not one then
    check.fail("trials: %d values of %s; an interval of 95 %% takes %d", #values, column, order_interval.least_count)
  end
  local interval_end = gb._native.results.interval_end
  row[column], row[interval_end(column, "low")], row[interval_end(column, "high")] = one.value, one.low, one.high
  return row
end
