-- What belongs to the program's own library is out of a script's reach, or checks its arguments.
local gb = require "gpubench"
local testing = require "testing"

local native = rawget(gb, "_native")
local harmless_to_skip = { exit = true }
local function try(members, path)
  for name, member in pairs(members) do
    if type(member) == "table" then
      try(member, path .. "." .. name)
    elseif type(member) == "function" and not harmless_to_skip[name] then
      testing.case(path .. "." .. name, function()
        for _, arguments in ipairs { {}, { {}, "x" }, { "x" }, { 1, 2 }, { print }, { gb.ones { 2 } } } do
          pcall(member, table.unpack(arguments))
        end
        testing.note()
      end)
    end
  end
end
if native and native.processes then try(native.processes, "processes") end
testing.case("reset_devices with tensors alive", function()
  local x = gb.ones { 3 }
  if native and native.reset_devices then pcall(native.reset_devices) end
  local ok, sum = pcall(function() return (x + 1):sum():item() end)
  testing.is_true(not ok or sum == 6, "a right sum, or an error")
end)
