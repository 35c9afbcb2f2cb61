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
  { "checks", "array" },
}

-- Returns { status, detail, row, checks }: the row of gb.measure.training, or why there is none.
return function(options)
  options = options or {}
  check.options(where, options, fields)
  local settings = {}
  for _, name in ipairs { "device", "soft", "pinned" } do
    if options[name] ~= nil then settings[name] = tostring(options[name]) end
  end
  for index, name in ipairs(options.checks or {}) do check.kind(where .. ": checks[" .. index .. "]", name, "string") end
  if options.checks and options.checks[1] then settings.checks = table.concat(options.checks, "+") end
  return native.probe {
    processors = options.processors or 0,
    threads = options.threads or 0,
    address_space = options.address_space or 0,
    neighbours = options.neighbours or 0,
    environment = options.environment or {},
    settings = settings,
    seconds = native.options.budget_s,
  }
end
