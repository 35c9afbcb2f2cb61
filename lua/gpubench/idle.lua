-- Waits for an idle machine before the first point of a script's first experiment (--wait-idle).
local gb = require "gpubench.native"
local native = gb._native
local options = native.options
-- That of the program, whatever a script does to its globals.
local stderr = io.stderr

local idle = {}

local has_waited = false

function idle.before_first_point()
  if has_waited or options.wait_idle_s == 0 then return end
  has_waited = true
  if native.processes.speaks() then
    stderr:write(string.format("waiting for an idle machine, for %s at most (--wait-idle)\n",
      gb.format.seconds(options.wait_idle_s)))
  end
  local is_idle, others, stolen = native.contention.wait_idle(options.wait_idle_s)
  if is_idle or not native.processes.speaks() then return end
  stderr:write(string.format("the machine is not idle: other programs use %.0f %% of its processors, and %.0f %% are stolen; "
    .. "measuring all the same, but claims about times may stay open\n", 100 * others, 100 * stolen))
end

return idle
