-- Every metric and loss defines or refuses scalars and empty batches.
local gb = require "gpubench"
local testing = require "testing"

local values = { 1, -0.5, {}, { {} }, gb.ones {}, gb.zeros { 0 }, gb.zeros { 0, 3 }, gb.zeros { 2, 0 } }
local function try(make, name)
  testing.case(name, function()
    for _, labels in ipairs(values) do
      for _, predictions in ipairs(values) do
        local ok, metric = pcall(make, {})
        if not ok then return testing.note() end
        pcall(function()
          metric:update_state(labels, predictions)
          return metric:result()
        end)
        pcall(function() return metric(labels, predictions) end)
      end
    end
    testing.note()
  end)
end
for name, make in pairs(gb.metrics) do try(make, "metrics." .. name) end
for name, make in pairs(gb.losses) do try(make, "losses." .. name) end
