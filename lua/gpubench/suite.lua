-- Suites for `gpubench nightly`: a Lua file that returns a table of scripts, devices, time and checks. It is data: it can
-- call nothing.
local check = require "gpubench.check"
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
}

local script_fields = {
  { "set", "table" },
  { "devices", "array" },
  { "once", "boolean" },
  { "minutes", "number" },
  { "budget", "number" },
  { "timeout", "number" },
}

local function exists_script(path)
  return system.is_file(path) and path or system.is_file(path .. ".lua") and path .. ".lua" or nil
end

-- The first of a file beside the suite, a path, and an experiment of the working folder or of the program.
local function find(folder, text)
  local places = { folder .. text, text, "experiments/" .. text, system.resource "experiments" .. "/" .. text }
  if text:find "^/" then places = { text } end
  for _, place in ipairs(places) do
    local found = exists_script(place)
    if found then return found end
  end
end

local function check_positive(where, value)
  if value and not (value > 0 and value < math.huge) then check.fail("%s: a number above 0 expected, got %s", where, value) end
end

local function check_names(where, list)
  for _, one in ipairs(list or {}) do check.kind(where, one, "string") end
end

local function setting_of(where, name, value)
  if not name:find "^[%a_][%w_]*$" then
    check.fail("%s: '%s' is no axis' name: letters, digits and '_', no digit first", where, name)
  end
  local values = type(value) == "table" and value or { value }
  if #values == 0 then check.fail("%s: the axis '%s' has no values", where, name) end
  local texts = {}
  for index, one in ipairs(values) do
    check.kind(where .. ": values of '" .. name .. "'", one, "string|number|boolean")
    texts[index] = tostring(one)
  end
  return name .. "=" .. table.concat(texts, ",")
end

local function read_script(where, folder, entry)
  if type(entry) == "string" then entry = { entry } end
  check.kind(where, entry, "table")
  local named = {}
  for key, value in pairs(entry) do named[key] = value end
  if type(entry[1]) ~= "string" then check.fail("%s: the name or file of an experiment expected first", where) end
  named[1] = nil
  where = where .. " (" .. entry[1] .. ")"
  check.options(where, named, script_fields)
  for _, name in ipairs { "minutes", "budget", "timeout" } do check_positive(where .. ": " .. name, entry[name]) end
  check_names(where .. ": devices", entry.devices)
  local path = find(folder, entry[1])
  if not path then
    check.fail("%s: there is no such script; looked beside the suite, in the working folder and among the experiments "
      .. "(gpubench list)", where)
  end
  local settings = {}
  for _, name in ipairs(check.sorted_keys(entry.set or {})) do
    settings[#settings + 1] = setting_of(where .. ": set", name, entry.set[name])
  end
  return { name = entry[1], path = path, settings = settings, devices = entry.devices, once = entry.once,
           minutes = entry.minutes, budget = entry.budget, timeout = entry.timeout }
end

local function run_file(path)
  local file, reason = io.open(path, "rb")
  if not file then check.fail("nightly: the suite '%s' cannot be opened: %s", path, reason) end
  local text, read_reason = file:read "a"
  file:close()
  if not text then check.fail("nightly: the suite '%s' cannot be read: %s", path, read_reason) end
  local chunk, mistake = load(text, "@" .. path, "t", {})
  if not chunk then check.fail("nightly: %s", mistake) end
  local ok, result = pcall(chunk)
  if not ok then check.fail("nightly: %s (a suite is a table of data; it can call nothing)", tostring(result)) end
  return result
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
  for _, path in ipairs(system.scripts_in(system.resource "suites")) do names[#names + 1] = path:match "([^/]+)%.lua$" end
  return names
end

-- { name, path, scripts = { { name, path, settings = { "axis=value" }, devices, once, minutes, ... } }, and the fields }.
function suite.read(text)
  local path = find_suite(text)
  local where = "nightly: " .. path
  local given = run_file(path)
  if type(given) ~= "table" then check.fail("%s: it must return a table, got %s", where, type(given)) end
  check.options(where, given, fields)
  for _, name in ipairs { "minutes", "budget", "timeout" } do check_positive(where .. ": " .. name, given[name]) end
  if given.wait_idle and not (given.wait_idle >= 0 and given.wait_idle <= 86400) then
    check.fail("%s: wait_idle: seconds from 0 to 86400 expected, got %s", where, given.wait_idle)
  end
  check_names(where .. ": devices", given.devices)
  if #given.scripts == 0 then check.fail("%s: it names no scripts", where) end
  local read = { path = path, name = given.name or path:match "([^/]+)%.lua$" or path, scripts = {} }
  if not read.name:find "^[%w_.-]+$" or read.name:find "^[.-]" then
    check.fail("%s: the name '%s' cannot be a file's: letters, digits, '_', '-' and '.'", where, read.name)
  end
  for _, field in ipairs(fields) do
    local name = field[1]
    if read[name] == nil then read[name] = given[name] end
  end
  for index, entry in ipairs(given.scripts) do
    read.scripts[index] = read_script(string.format("%s: script %d", where, index), path:match "^.*/" or "", entry)
  end
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
