-- The median of independent values, and an interval that holds the median of their distribution with a probability of
-- at least 95 %, whatever the distribution: two of the sorted values, as far inside as that allows (order statistics;
-- H. A. David and H. N. Nagaraja, "Order Statistics", 3rd edition, section 7.1). Fewer than six values have none.
local interval = {}

interval.least_count = 6

-- How many of the smallest and of the largest of n values lie outside: the largest k with 2 P(X < k) <= 5 %, X binomial
-- with n trials of 1/2. Negative where even all of them are not enough.
-- By logarithms, because 0.5^n of a thousand values is 0.
local function left_out(n)
  local log_probability, below, k = n * math.log(0.5), 0, -1
  while 2 * (below + math.exp(log_probability)) <= 0.05 do
    below, k = below + math.exp(log_probability), k + 1
    log_probability = log_probability + math.log((n - k) / (k + 1))
  end
  return k
end

local function sort(values)
  local sorted = table.move(values, 1, #values, 1, {})
  table.sort(sorted)
  return sorted
end

local function middle(sorted)
  local low, high = sorted[(#sorted + 1) // 2], sorted[#sorted // 2 + 1]
  return low == high and low or low / 2 + high / 2  -- their sum may be too large
end

function interval.median(values)
  return middle(sort(values))
end

-- { value, low, high }; nil for too few values.
function interval.of(values)
  local n = #values
  local k = left_out(n)
  if k < 0 then return nil end
  local sorted = sort(values)
  return { value = middle(sorted), low = sorted[k + 1], high = sorted[n - k] }
end

return interval
