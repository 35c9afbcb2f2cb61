local gb = require "gpubench"
local testing = require "testing"
local devices = testing.command "devices"

-- What a command prints, with other functions of the program in place of its own.
local function printed(command, replaced)
  local lines, kept = {}, {}
  for name, fn in pairs(replaced) do
    kept[name], gb._native[name] = gb._native[name], fn
  end
  local print_before = print
  print = function(text) lines[#lines + 1] = text end
  local ok, reason = pcall(command)
  print = print_before
  for name, fn in pairs(kept) do gb._native[name] = fn end
  assert(ok, reason)
  return lines
end

testing.case("a device's details stand below it, indented", function()
  local first = gb.devices()[1]
  local lines = printed(devices, {
    device_details = function(name)
      return name == first and { { "driver", "580.65.06" }, { "processes", "python3\n(process 17)" } } or {}
    end,
  })
  testing.equal(lines[1], first .. "  " .. gb.config.device_description(first))
  testing.equal(lines[2], "       driver     580.65.06")
  testing.equal(lines[3], "       processes  python3 (process 17)")
end)
