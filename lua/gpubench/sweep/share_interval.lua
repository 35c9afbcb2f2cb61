-- The 95 % interval of a share that was counted, such as an accuracy on test examples: the score interval (E. B. Wilson
-- 1927, "Probable inference, the law of succession, and statistical inference"), which stays within 0 and 1.
local check = require "gpubench.check"

-- Of the normal distribution, 97.5 %.
local z = 1.959963984540054

return function(share, count)
  check.kind("gb.measure.share_interval: argument #1", share, "number")
  check.kind("gb.measure.share_interval: argument #2", count, "number")
  if share < 0 or share > 1 then check.fail("gb.measure.share_interval: the share lies between 0 and 1, got %g", share) end
  if count < 1 then check.fail("gb.measure.share_interval: the count is at least 1, got %g", count) end
  local scale = 1 + z ^ 2 / count
  local middle = (share + z ^ 2 / (2 * count)) / scale
  local half = z / scale * math.sqrt(share * (1 - share) / count + z ^ 2 / (4 * count ^ 2))
  return math.max(middle - half, 0), math.min(middle + half, 1)
end
