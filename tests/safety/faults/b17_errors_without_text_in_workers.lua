-- An error value whose __tostring fails, in a worker's state, is an error of the element.
local gb = require "gpubench"
local testing = require "testing"

local values = {
  function() error(setmetatable({}, { __tostring = function() error "x" end })) end,
  function() error(setmetatable({}, { __tostring = function() return 5 end })) end,
  function() error(setmetatable({}, { __name = 5 })) end,
  function() error(nil) end,
  function() error({}) end,
  function() local function deeper() return 1 + deeper() end return deeper() end,
}
for index, body in ipairs(values) do
  testing.case("error value " .. index, function()
    for _, threads in ipairs { 0, 2 } do
      local failing = gb.data.Dataset.range(2):map(gb.data.lua_function(body, { output = { "int64" } }),
        threads > 0 and { num_parallel_calls = threads } or nil)
      local ok = pcall(function() for _ in failing:iter() do end end)
      testing.equal(ok, false)
    end
  end)
end
