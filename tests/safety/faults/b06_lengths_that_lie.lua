-- A table's __len is not believed: negative and huge ones are errors, at once.
local gb = require "gpubench"
local testing = require "testing"

for _, length in ipairs { -5, -1, math.mininteger, 1000000000, math.maxinteger } do
  local lying = setmetatable({}, { __len = function() return length end })
  testing.case("a table that says its length is " .. length, function()
    local began = os.clock()
    testing.refuses(gb.tensor, lying)
    testing.refuses(function() return gb.ones { 2 }:gt(lying) end)
    testing.refuses(gb.zeros, lying)
    testing.refuses(function() return gb.data.Dataset.from_tensor_slices(lying) end)
    testing.is_true(os.clock() - began < 5, "refused within 5 s")
  end)
end
