-- The states of gb.data.lua_function take no binary chunks, which can be crafted to run machine code.
local gb = require "gpubench"
local testing = require "testing"

testing.case("load of a binary chunk in a worker's state", function()
  local tried = gb.data.Dataset.range(1):map(gb.data.lua_function(function()
    if not load or not string.dump then return 0 end
    local code = string.dump(function() return 7 end)
    for _, mode in ipairs { "b", "bt", "t" } do
      local ok, chunk = pcall(load, code, "x", mode)
      if ok and chunk then return 1 end
    end
    local ok, chunk = pcall(load, code)
    return ok and chunk and 1 or 0
  end, { output = { "int64" } }))
  for loaded in tried:iter() do testing.equal(loaded:item(), 0) end
end)
