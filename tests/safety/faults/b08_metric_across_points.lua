-- A metric that was made before the sweep works in its points, or says why it does not.
local gb = require "gpubench"
local testing = require "testing"

local metrics = { gb.metrics.Accuracy {}, gb.metrics.TopKCategoricalAccuracy { k = 1 } }
local function works_or_says_why()
  for _, metric in ipairs(metrics) do
    local ok, reason = pcall(function()
      metric:update_state(gb.ones { 2, 3 }, gb.ones { 2, 3 })
      return metric:result()
    end)
    testing.is_true(ok or tostring(reason):find "[Mm]etric", "updated, or a reason that speaks of the metric: " ..
      tostring(reason))
  end
end

testing.case("metrics of before the sweep", function()
  gb.experiment { name = "metrics", title = "t", axes = { gb.axis("n", { 1, 2, 3 }) }, run = function()
    works_or_says_why()
    return { v = 1.0 }
  end }
  works_or_says_why()
end)
