-- Waits for an idle machine before the first point of a script (--wait-idle). Several processes wait together, until
-- the machine of each is idle.
local gb = require "gpubench.native"
local processes = require "gpubench.sweep.processes"
local native = gb._native
local system = native.system
-- Those of the program, whatever a script does to its globals.
local stderr, pcall = io.stderr, pcall

local idle = {}

-- Seconds of a reading, and the least that tells anything: the kernel counts processor time in steps of 10 ms.
local window_s, shortest_window_s = 1, 0.1

local function busy_text(one, rank)
  if processes.count == 1 then return one.found end
  return string.format("where %s runs, %s", native.processes.names()[rank], one.found)
end

-- Returns what keeps the first machine that is not idle busy, nil where all are idle, and the seconds that are left by
-- the clock of process 0.
local function look(left_s)
  local began = system.seconds()
  local is_idle, found = native.contention.wait_idle(math.min(left_s, window_s))
  local all = { { is_idle = is_idle, found = found, left_s = left_s - (system.seconds() - began) } }
  if processes.count > 1 then all = native.processes.gather(all[1]) end
  for rank, one in ipairs(all) do
    if not one.is_idle then return busy_text(one, rank), all[1].left_s end
  end
  return nil, all[1].left_s
end

local function say(text)
  stderr:write(text, "\n")
end

local function wait(limit_s)
  local reports = native.processes.reports_for_all()
  local limit = gb.format.seconds(limit_s)
  local began, left_s, busy, said = system.seconds(), limit_s, nil, false
  repeat
    busy, left_s = look(left_s)
    if reports and busy then
      if not said then say(string.format("waiting for an idle machine, at most %s (--wait-idle): %s", limit, busy)) end
      said = true
      native.progress.show { left_s = math.max(left_s, 0), call_s = math.max(left_s, 0), text = busy }
    end
  until not busy or left_s < shortest_window_s
  if not said then return end
  native.progress.hide()
  if not busy then return say("the machine is idle after " .. gb.format.seconds(system.seconds() - began)) end
  say(string.format("the machine was not idle within %s: %s. Measuring goes on; claims "
    .. "about times may stay open", limit,
    busy))
end

-- Seconds of the look at a machine that nothing waits for.
local glance_s = 0.3

-- Says before the first point what would else be known behind the last one.
local function warn()
  local ok, busy = pcall(look, glance_s)  -- not every system tells how busy it is
  if not ok or not busy or not native.processes.reports_for_all() then return end
  say(string.format("the machine is busy: %s. Claims about times may stay open; --wait-idle 600 "
    .. "waits until it is idle", busy))
end

local has_looked = false

-- A collective call. Only the first one looks or waits, also where a script has several experiments. is_about_times:
-- the experiment has claims that a busy machine leaves open. Processes that a command starts together are not one
-- measurement each, and say nothing.
function idle.before_first_point(is_about_times)
  local limit_s = native.options.wait_idle_s
  if has_looked or limit_s == 0 and not (is_about_times and native.options.group == "") then return end
  has_looked = true
  if limit_s > 0 then wait(limit_s) else warn() end
end

return idle
