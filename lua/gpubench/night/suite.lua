-- Suites for `gpubench nightly`: a Lua file that returns a table of scripts, devices, time and checks. It is data, and
-- read without being run.
local check = require "gpubench.check"
local literals = require "gpubench.literals"
local native = require("gpubench.native")._native
local system = native.system

local suite = {}

local fields = {
  { "name", "string" },
  { "scripts", "array", required = "experiments, by name or file" },
  { "devices", "array" },
  { "minutes", "number", required = "how long the whole suite may take" },
  { "budget", "number" },
  { "timeout", "number" },
  { "quick", "boolean" },
  { "wait_idle", "number" },
  { "free_memory_bytes", "number" },
  { "allow_throttled", "boolean" },
  { "thresholds", "table" },
}

local script_fields = {
  { "set", "table" },
  { "devices", "array" },
  { "once", "boolean" },
  { "processes", "integer" },
  { "launcher", "string" },
  { "minutes", "number" },
  { "budget", "number" },
  { "timeout", "number" },
}

-- Programs that start the processes of a script, all with "-n N PROGRAM". A suite may come from elsewhere: it names one
-- of these, and no command. Without one, gpubench starts the processes on this machine.
local launchers = { "mpirun", "srun" }
local most_processes = { here = 1024, launched = 100000 }

-- Files have room for "nightly-NAME.prom", and paths for 4096 bytes.
local most_name, most_path = 200, 1000

local function exists_script(path)
  return system.is_file(path) and path or system.is_file(path .. ".lua") and path .. ".lua" or nil
end

-- The first of a file beside the suite, a path, and an experiment of the working folder or of the program.
local function find(folder, text)
  local places = { folder .. text, text, "experiments/" .. text, system.resource "experiments" .. "/" .. text }
  if text:find "^/" then places = { text } end
  for _, place in ipairs(places) do
    local found = exists_script(place)
    if found then return (found:gsub("^%-", "./-")) end  -- an argument that begins so would be an option
  end
end

-- What lasts longer is no night.
local most_minutes = 7 * 24 * 60
local most = { minutes = most_minutes, budget = 60 * most_minutes, timeout = 60 * most_minutes }

local function check_time(where, name, value)
  if not value or value > 0 and value <= most[name] then return end
  check.fail("%s: %s: a number above 0 expected, at most %d, got %s", where, name, most[name], value)
end

-- How long a night may take, from a suite or the command line.
function suite.check_minutes(where, value)
  check_time(where, "minutes", value)
end

local function check_times(where, given)
  for _, name in ipairs { "minutes", "budget", "timeout" } do check_time(where, name, given[name]) end
end

-- "gpu", "cpu:0", "emulated:a100:0"
local function check_devices(where, list)
  for _, one in ipairs(list or {}) do
    check.kind(where .. ": devices", one, "string")
    if not one:find "^%a[%w_:+.-]*$" or #one > 100 then
      check.fail("%s: devices: '%s' is no device and no kind of devices", where, one:sub(1, 100))
    end
  end
end

-- All devices of several processes are measured together, so such a script runs once.
local function check_processes(where, entry)
  local launcher, count = entry.launcher, entry.processes
  if launcher then
    local known = false
    for _, one in ipairs(launchers) do known = known or launcher == one end
    if not known then
      check.fail("%s: launcher: '%s' is none; possible are %s, and without one gpubench starts "
        .. "the processes on this machine",
        where, launcher:sub(1, 100), table.concat(launchers, ", "))
    end
    if not count then check.fail("%s: launcher: it needs processes = N, the number that %s starts", where, launcher) end
  end
  if not count then return end
  local limit = launcher and most_processes.launched or most_processes.here
  if count < 1 or count > limit then
    check.fail("%s: processes: a number from 1 to %d expected, got %d", where, limit, count)
  end
  if entry.once == false then
    check.fail("%s: once: a script with processes = N runs once, for all devices together; "
      .. "leave out once = false", where)
  end
end

local function text_of_value(where, name, value)
  where = where .. ": values of '" .. name .. "'"
  check.kind(where, value, "string|number|boolean")
  local text = tostring(value)
  if text:find "%c" then check.fail("%s: a text has a control character", where) end
  if math.type(value) == "float" and (value ~= value or math.abs(value) == math.huge) then
    check.fail("%s: a finite number expected, got %s", where, text)
  end
  return text
end

local function setting_of(where, name, value)
  if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
    check.fail("%s: the name of an axis or parameter expected, got '%s'", where, tostring(name):sub(1, 100))
  end
  local values = type(value) == "table" and value or { value }
  local texts = {}
  for index, one in ipairs(check.kind(string.format("%s: '%s'", where, name), values, "array")) do
    texts[index] = text_of_value(where, name, one)
  end
  if #texts == 0 then check.fail("%s: the axis '%s' has no values", where, name) end
  return name .. "=" .. table.concat(texts, ",")
end

local function read_script(where, folder, entry)
  if type(entry) == "string" then entry = { entry } end
  check.kind(where, entry, "table")
  local named = {}
  for key, value in pairs(entry) do named[key] = value end
  if type(entry[1]) ~= "string" then check.fail("%s: the name or file of an experiment expected first", where) end
  named[1] = nil
  if entry[1]:find "%c" or entry[1] == "" or #entry[1] > most_path then
    check.fail("%s: the name or file of an experiment is empty, has a control character, or more than %d bytes",
      where, most_path)
  end
  where = where .. " (" .. entry[1] .. ")"
  check.options(where, named, script_fields)
  check_times(where, entry)
  check_devices(where, entry.devices)
  check_processes(where, entry)
  local settings = {}
  for name, value in pairs(entry.set or {}) do settings[#settings + 1] = setting_of(where .. ": set", name, value) end
  table.sort(settings)
  local path = find(folder, entry[1])
  if not path then
    return nil,
      "there is no such script; looked beside the suite, in the working folder and among the experiments "
        .. "(gpubench list)"
  end
  return { name = entry[1], path = path, settings = settings, devices = entry.devices,
           once = entry.once or entry.processes ~= nil, processes = entry.processes, launcher = entry.launcher,
           minutes = entry.minutes, budget = entry.budget, timeout = entry.timeout }
end

-- "call_s=0.05 step_time_s=0.03" of { step_time_s = "3 %", call_s = "5 %" }, as the history remembers it.
local function thresholds_of(where, given)
  local words = {}
  for name, text in pairs(given or {}) do
    if type(name) ~= "string" or not name:find "^[%a_][%w_]*$" then
      check.fail("%s: thresholds: the name of a figure expected, got '%s'", where, tostring(name):sub(1, 100))
    end
    check.kind(string.format("%s: thresholds: '%s'", where, name), text, "string")
    local ok, share = pcall(native.results.threshold, text)
    if not ok then check.fail("%s: thresholds: '%s': %s", where, name, share) end
    words[#words + 1] = string.format("%s=%.17g", name, share)
  end
  table.sort(words)
  return table.concat(words, " ")
end

-- What it returns, and its text.
local function read_file(path)
  local text, reason = literals.read_file(path)
  if not text then check.fail("nightly: the suite '%s' cannot be read: %s", path, reason) end
  return literals.returned("nightly: " .. path, text,
    "a suite returns a table of texts, numbers, true and false; it can call nothing"), text
end

-- A suite by its file, or by its name in suites/ of the working folder or of the program.
local function find_suite(text)
  for _, place in ipairs { text, "suites/" .. text, system.resource "suites" .. "/" .. text } do
    local found = exists_script(place)
    if found then return found end
  end
  check.fail("nightly: there is no suite '%s'; a file is expected, or a name in suites/ (%s)", text,
    table.concat(suite.names(), ", "))
end

-- Names of the suites that come with the program.
function suite.names()
  local names = {}
  for _, path in ipairs(system.scripts_in(system.resource "suites")) do
    names[#names + 1] = path:match "([^/]+)%.lua$"
  end
  return names
end

-- { name, path, checksum, scripts = { { name, path, settings = { "axis=value" }, devices, once, processes, launcher,
-- minutes, ... } }, unread, and the fields }. unread: a line for each script that is not there, which costs itself and
-- not the night.
function suite.read(text)
  local path = find_suite(text)
  local where = "nightly: " .. path
  local given, text_of_file = read_file(path)
  if type(given) ~= "table" then check.fail("%s: it must return a table, got %s", where, type(given)) end
  check.options(where, given, fields)
  check_times(where, given)
  if given.free_memory_bytes and not (given.free_memory_bytes >= 0 and given.free_memory_bytes < 2 ^ 63) then
    check.fail("%s: free_memory_bytes: bytes from 0 expected, got %s", where, given.free_memory_bytes)
  end
  if given.wait_idle and not (given.wait_idle >= 0 and given.wait_idle <= 86400) then
    check.fail("%s: wait_idle: seconds from 0 to 86400 expected, got %s", where, given.wait_idle)
  end
  check_devices(where, given.devices)
  if #given.scripts == 0 then check.fail("%s: it names no scripts", where) end
  local read = { path = path, name = given.name or path:match "([^/]+)%.lua$" or path,
    checksum = native.results.checksum(text_of_file),
                 scripts = {}, unread = {} }
  if not read.name:find "^[%w_.-]+$" or read.name:find "^[.-]" or #read.name > most_name then
    check.fail("%s: the name '%s' cannot be a file's: letters, digits, '_', '-' and '.', at most %d", where,
      read.name:sub(1, most_name), most_name)
  end
  for _, field in ipairs(fields) do
    local name = field[1]
    if read[name] == nil then read[name] = given[name] end
  end
  read.thresholds = thresholds_of(where, given.thresholds)
  for index, entry in ipairs(given.scripts) do
    local script, reason = read_script(string.format("%s: script %d", where, index), path:match "^.*/" or "", entry)
    if script then
      read.scripts[#read.scripts + 1] = script
    else
      read.unread[#read.unread + 1] = string.format("script %d (%s): %s", index,
        type(entry) == "table" and entry[1] or entry, reason)
    end
  end
  if #read.scripts == 0 then check.fail("%s: %s", where, read.unread[1]) end
  return read
end

-- Whether a device is meant: by its name "gpu:0", or by its kind "gpu".
function suite.wants(list, device)
  if not list then return true end
  for _, one in ipairs(list) do
    if one == device or one == device:match "^%a+" then return true end
  end
  return false
end

return suite
