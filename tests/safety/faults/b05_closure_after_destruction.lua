-- A finalizer brings back a function of C++ that the same collection destroys; calling it is an error.
local testing = require "testing"

local searcher, saved = package.searchers[3], nil
do setmetatable({ searcher = searcher }, { __gc = function(object) saved = object.searcher end }) end
searcher = nil
package.searchers = { package.searchers[1], package.searchers[2] }
collectgarbage()
collectgarbage()
for i = 1, 10 do
  local filler = {}
  for k = 1, 1000 do filler[k] = ("x"):rep(40 + k + i) end
end
testing.case("calling a searcher that was collected", function()
  if saved then testing.refuses(saved, "anything") end
  testing.note()
end)
