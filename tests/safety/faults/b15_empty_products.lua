-- Products and layers of nothing are defined, or refused.
local gb = require "gpubench"
local testing = require "testing"

testing.case("matmul with an extent of 0", function()
  testing.equal(gb.matmul(gb.ones { 2, 3 }, gb.ones { 3, 0 }).shape, { 2, 0 })
  testing.equal(gb.matmul(gb.ones { 0, 3 }, gb.ones { 3, 2 }).shape, { 0, 2 })
  local sums = gb.matmul(gb.ones { 2, 0 }, gb.ones { 0, 2 })
  testing.equal(sums:to_table(), { { 0.0, 0.0 }, { 0.0, 0.0 } })
end)

local makers = {
  Dense = function() return gb.layers.Dense(2), { 0, 3 } end,
  Conv2D = function() return gb.layers.Conv2D(2, 3), { 0, 8, 8, 1 } end,
  MaxPooling2D = function() return gb.layers.MaxPooling2D(), { 0, 8, 8, 1 } end,
  BatchNormalization = function() return gb.layers.BatchNormalization(), { 0, 4 } end,
  Flatten = function() return gb.layers.Flatten(), { 0, 4, 4 } end,
}
for name, make in pairs(makers) do
  testing.case(name .. " on an empty batch, and its gradient", function()
    local layer, shape = make()
    local ok, result = pcall(function() return layer(gb.ones(shape)) end)
    testing.is_true(not ok or result.shape[1] == 0, "an empty result, or an error")
    local model = gb.Sequential { layer }
    pcall(function()
      model:compile { optimizer = "sgd", loss = "mse" }
      model:fit(gb.ones(shape), gb.ones { 0, 2 }, { verbose = 0 })
    end)
  end)
end
