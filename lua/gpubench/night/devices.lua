-- The devices of a night: those that the suite names and on which measuring makes sense now.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local suites = require "gpubench.night.suite"
local native = gb._native
local one_line = native.results.one_line

local devices = {}

-- What preflight.lua tells of the devices, in their order: { { name, free_memory_bytes, problems = { [check] = text } }
-- }. What is wrong with the whole machine is said.
local function look_at_devices()
  local ended = native.host.run_program({ native.host.program, "run",
    native.system.resource "lua/gpubench/night/preflight.lua" }, { captured = true })
  native.check_interrupt()
  if ended.status ~= 0 then check.fail("nightly: the devices cannot be looked at (exit status %d)", ended.status) end
  local found, by_name = {}, {}
  for line in ended.out:gmatch "[^\n]+" do
    local name, fact, text = line:match "^([^\t]*)\t([^\t]*)\t(.*)$"
    if name == "" then
      io.stderr:write(one_line(string.format("doctor: %s: %s", fact, text)), "\n")
    elseif fact == "free_memory_bytes" then
      by_name[name] = { name = name, free_memory_bytes = tonumber(text), problems = {} }
      found[#found + 1] = by_name[name]
    elseif name then
      by_name[name].problems[fact] = text
    end
  end
  return found
end

-- Why nothing should be measured on a device now; nil where all is well.
local function unfit(suite, device)
  local problems, free = device.problems, device.free_memory_bytes
  if problems.gpu_throttling and not suite.allow_throttled then
    return "it is throttled: " .. problems.gpu_throttling
  end
  if problems.gpu_sharing then return "others use it: " .. problems.gpu_sharing end
  if problems.gpu_errors then return "errors of its memory: " .. problems.gpu_errors end
  if free and suite.free_memory_bytes and free < suite.free_memory_bytes then
    return string.format("%s are free, the suite wants %s", gb.format.bytes(free),
      gb.format.bytes(suite.free_memory_bytes))
  end
end

-- The devices that the suite names and that are fit, why the others are left out, and whether each device that it names
-- is there.
function devices.choose(suite)
  local fit, left_out, named = {}, {}, {}
  local found = look_at_devices()
  for _, device in ipairs(found) do
    if suites.wants(suite.devices, device.name) then
      local reason = unfit(suite, device)
      if reason then left_out[#left_out + 1] = device.name .. ": " .. reason else fit[#fit + 1] = device.name end
    end
  end
  for _, wanted in ipairs(suite.devices or {}) do
    named[wanted] = false
    for _, device in ipairs(found) do named[wanted] = named[wanted] or suites.wants({ wanted }, device.name) end
  end
  return fit, left_out, named
end

return devices
