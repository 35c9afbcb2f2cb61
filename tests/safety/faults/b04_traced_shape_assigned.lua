-- A traced shape's metatable is closed, or what it holds checks its arguments.
local gb = require "gpubench"
local testing = require "testing"

local rows = gb.data.Dataset.from_generator(function()
  for i = 1, 4 do coroutine.yield(gb.zeros { i }) end
end, { types = { "float32[?]" } })

testing.case("the metatable of a shape with open extents", function()
  rows:map(function(x)
    local metatable = getmetatable(x.shape)
    if type(metatable) == "table" then
      for _, event in pairs(metatable) do
        for _, value in ipairs { ("A"):rep(100), 5, print } do
          if type(event) == "function" then testing.refuses(event, value, "k", 1) end
        end
      end
    end
    testing.note()
    return x
  end)
end)
