-- Orders of scripts and points in processes that are compared.
local random_order = require "gpubench.sweep.random_order"
local testing = require "testing"

testing.case("an order has each number once", function()
  for count = 0, 20 do
    local order = random_order(count, 42)
    table.sort(order)
    local expected = {}
    for index = 1, count do expected[index] = index end
    testing.equal(order, expected)
  end
end)

testing.case("the seed decides it, and neighbouring seeds give different ones", function()
  testing.equal(random_order(8, 7), random_order(8, 7))
  local seen, different = {}, 0
  for seed = 1, 100 do
    local text = table.concat(random_order(8, seed), " ")
    different = different + (seen[text] and 0 or 1)
    seen[text] = true
  end
  testing.is_true(different > 90, different .. " of 100 differ")
end)

testing.case("every number is in every place about as often", function()
  local counts = { 0, 0, 0, 0 }
  for seed = 1, 4000 do
    local order = random_order(4, seed)
    counts[order[1]] = counts[order[1]] + 1
  end
  for _, count in ipairs(counts) do testing.is_true(count > 800 and count < 1200, count) end
end)
