-- A figure of few trials: their median, and as its interval the least and the largest, which hold it with a probability
-- of 1 - 2^(1 - n); 97 % for six.
local gb = require "gpubench.native"
local check = require "gpubench.check"

local least_count = 6

return function(row, column, values)
  if #values < least_count then
    check.fail("trials: %d values of %s; an interval of 95 %% takes %d", #values, column, least_count)
  end
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  local low, high = (#sorted + 1) // 2, #sorted // 2 + 1
  local interval_end = gb._native.results.interval_end
  row[column] = (sorted[low] + sorted[high]) / 2
  row[interval_end(column, "low")], row[interval_end(column, "high")] = sorted[1], sorted[#sorted]
  return row
end
