-- A budget that is no time is an error: the library that measures kernels ended the program.
local gb = require "gpubench"
local testing = require "testing"

for _, budget in ipairs { 0, -1, 0 / 0, 1e-300, math.huge } do
  testing.case("a budget of " .. budget, function()
    local reason = testing.refuses(gb.measure.kernels, { { op = "matmul", m = 2, n = 2, k = 2 }, budget = budget })
    testing.contains(reason, "at least 1e-06 s for each are needed")
  end)
end
