-- gb.measure.in_process: a small training in a fresh process, under conditions that cannot be changed while a process
-- runs.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local native = gb._native

local where = "gb.measure.in_process"

local fields = {
  { "processors", "integer" },
  { "threads", "integer" },
  { "environment", "table" },
  { "address_space", "integer" },
  { "neighbours", "integer" },
  { "device", "string" },
  { "soft", "boolean" },
  { "pinned", "boolean" },
  { "memory_limit", "integer" },
  { "checks", "array" },
}

-- What is possible; more neighbours than twice the processors would only make the measurement last.
local ranges = {
  processors = 1 << 16, threads = 1 << 16, address_space = 1 << 62, memory_limit = 1 << 62,
  neighbours = 2 * math.max(1, native.processors()),
}

local function check_ranges(options)
  for _, field in ipairs(fields) do
    local name, most = field[1], ranges[field[1]]
    local value = options[name]
    if most and value and (value < 0 or value > most) then
      check.fail("%s: option '%s': 0 to %d are possible, got %d", where, name, most, value)
    end
  end
  for name, value in pairs(options.environment or {}) do
    if type(name) ~= "string" or type(value) ~= "string" then
      check.fail("%s: option 'environment': names with texts are expected, such as { OMP_THREAD_LIMIT = \"1\" }", where)
    end
  end
  if options.device == "" then check.fail("%s: option 'device': the name is empty", where) end
end

local function check_names(names)
  local known = {}
  for index, one in ipairs(native.doctor.checks()) do known[index], known[one.name] = one.name, true end
  for index, name in ipairs(names) do
    check.kind(where .. ": checks[" .. index .. "]", name, "string")
    if not known[name] then
      check.fail("%s: there is no check '%s' (known: %s)", where, name, table.concat(known, ", "))
    end
  end
end

-- Returns { status, detail, row, checks }: the row of gb.measure.training, or why there is none.
return function(options)
  options = options or {}
  check.options(where, options, fields)
  check_ranges(options)
  local settings = {}
  for _, name in ipairs { "device", "soft", "pinned", "memory_limit" } do
    -- The name of an axis that every script has is checked against this process' devices.
    if options[name] ~= nil then settings[name == "device" and "place" or name] = tostring(options[name]) end
  end
  check_names(options.checks or {})
  if options.checks and options.checks[1] then settings.checks = table.concat(options.checks, "+") end
  return native.probe {
    processors = options.processors or 0,
    threads = options.threads or 0,
    address_space = options.address_space or 0,
    neighbours = options.neighbours or 0,
    environment = options.environment or {},
    settings = settings,
  }
end
