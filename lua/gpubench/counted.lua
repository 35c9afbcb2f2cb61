-- The library's own functions refuse arguments that they would drop, as those in C++ do.
local native = require("gpubench.native")._native

local select = select

local counted = {}

-- The function under its name in messages.
function counted.of(name, f)
  local most = native.parameters(f)
  if not most then return f end  -- any number
  return function(...)
    local given = select("#", ...)
    for index = most + 1, given do
      if select(index, ...) ~= nil then
        native.fail(string.format("%s: takes at most %d argument%s, got %d", name, most, most == 1 and "" or "s", given))
      end
    end
    return f(...)
  end
end

-- A table with all members of a module.
function counted.module(name, module)
  local members = {}
  for key, member in pairs(module) do
    members[key] = type(member) == "function" and counted.of(name .. "." .. key, member) or member
  end
  return members
end

return counted
