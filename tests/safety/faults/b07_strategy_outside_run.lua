-- A strategy that was made before the sweep works in its points, or says why it does not.
local gb = require "gpubench"
local testing = require "testing"

local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
local earlier
local function train(with)
  local model = with:scope(function()
    local built = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
    built:compile { optimizer = "sgd", loss = "mse" }
    return built
  end)
  model:fit(gb.ones { 4, 3 }, gb.ones { 4, 2 }, { verbose = 0 })
end
local function works_or_says_why(with)
  local ok, reason = pcall(train, with)
  testing.is_true(ok or tostring(reason):find "[Ss]trategy", "trained, or a reason that speaks of the strategy: " ..
    tostring(reason))
end

testing.case("a strategy of before the sweep, and of the point before", function()
  gb.experiment { name = "strategies", title = "t", axes = { gb.axis("n", { 1, 2, 3 }) }, run = function()
    works_or_says_why(strategy)
    if earlier then works_or_says_why(earlier) end
    earlier = gb.distribute.MirroredStrategy { devices = { "cpu:0" } }
    works_or_says_why(earlier)
    return { v = 1.0 }
  end }
  works_or_says_why(strategy)
  works_or_says_why(earlier)
end)
