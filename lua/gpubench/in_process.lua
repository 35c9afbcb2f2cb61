-- gb.measure.in_process: a small training in a fresh process, under conditions that cannot be changed while a process runs.
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
