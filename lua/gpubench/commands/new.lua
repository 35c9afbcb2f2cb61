-- `gpubench new`: writes a commented script to start from.
local native = require("gpubench.native")._native
local check = require "gpubench.check"
local system = native.system

return function(options)
  local name = options.name
  local path = name:find "%.lua$" and name or name .. ".lua"
  local stem = path:match "([^/]+)%.lua$"
  if not stem or not stem:find "^[%a_][%w_-]*$" then
    check.fail("new: '%s' cannot name an experiment: letters, digits, '_' and '-', a letter first", name)
  end
  if system.exists(path) then check.fail("new: %s is there already", path) end
  local template <close> = assert(io.open(system.resource "lua/gpubench/template/experiment.lua"))
  local file, reason = io.open(path, "w")
  if not file then check.fail("new: %s", reason) end
  file:write((template:read("a"):gsub("NAME", stem)))
  file:close()
  print("wrote " .. path .. "; run it with: gpubench " .. path)
  return 0
end
