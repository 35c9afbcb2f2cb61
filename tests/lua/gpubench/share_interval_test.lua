local gb = require "gpubench"
local testing = require "testing"

testing.case("known intervals", function()
  for _, known in ipairs {
    { 0.95, 2000, 0.939556, 0.958719 }, { 1, 10, 0.722467, 1 }, { 0, 10, 0, 0.277533 }, { 0.5, 4, 0.150039, 0.849961 },
  } do
    local low, high = gb.measure.share_interval(known[1], known[2])
    testing.near(low, known[3], 1e-6)
    testing.near(high, known[4], 1e-6)
  end
end)

testing.case("covers the true share in 95 % of trials", function()
  math.randomseed(7)
  local covered, trials, share, count = 0, 2000, 0.9, 200
  for _ = 1, trials do
    local hits = 0
    for _ = 1, count do hits = hits + (math.random() < share and 1 or 0) end
    local low, high = gb.measure.share_interval(hits / count, count)
    if low <= share and share <= high then covered = covered + 1 end
  end
  testing.near(covered / trials, 0.95, 0.02)
end)

testing.case("mistakes are named", function()
  testing.raises("the share lies between 0 and 1, got 95", gb.measure.share_interval, 95, 10)
  testing.raises("the count is at least 1, got 0", gb.measure.share_interval, 0.5, 0)
  testing.raises("argument #2: number expected, got no value", gb.measure.share_interval, 0.5)
end)
