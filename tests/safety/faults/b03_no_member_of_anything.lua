-- What stands behind a misspelt name walks tables only: it is out of reach, or checks its argument.
local gb = require "gpubench"
local testing = require "testing"

local modules = { gb = gb }
for name, value in pairs(gb) do
  if type(value) == "table" then modules[name] = value end
end
for name, module in pairs(modules) do
  testing.case("the metatable of " .. name, function()
    local metatable = getmetatable(module)
    if type(metatable) == "table" then
      for _, event in pairs(metatable) do
        for _, value in ipairs { ("A"):rep(200), 5, print, true } do
          if type(event) == "function" then testing.refuses(event, value, "x") end
        end
      end
    end
    testing.note()
  end)
end

testing.case("name_members takes tables only", function()
  local native = rawget(gb, "_native")
  local name_members = native and native.name_members
  if name_members then testing.refuses(name_members, "text", "name") end
  testing.equal(("x"):upper(), "X")
end)
