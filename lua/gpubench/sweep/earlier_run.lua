-- How long points took in an earlier run: the times that a dry run and the progress line expect again.
local native = require("gpubench.native")._native
local processes = require "gpubench.sweep.processes"
local options = native.options
-- That of the program, whatever a script does to its globals.
local pcall = pcall

local earlier_run = {}

-- Of older runs the machine may have changed too much; reading all of them would take long.
local most_runs = 10

-- What decides how long a point takes, beside its axes; run.json has it as `options`.
function earlier_run.options()
  return {
    quick = options.quick,
    budget_s = options.budget_s,
    timeout_s = options.timeout_s,
    device = options.device,
    threads = options.threads,
    processes = processes.count,
  }
end

local function has_same_options(info)
  local given = info.options
  if type(given) ~= "table" then return false end
  local own = earlier_run.options()
  for name in pairs(given) do
    if own[name] ~= given[name] then return false end
  end
  for name in pairs(own) do
    if own[name] ~= given[name] then return false end
  end
  return true
end

local function text_of(value)
  return type(value) == "number" and string.format("%.17g", value) or tostring(value)
end

-- Equal for a point and its row, which has gone through a file.
local function key_of(axes, values)
  local parts = {}
  for index, one in ipairs(axes) do parts[index] = string.format("%q", text_of(values[one.name])) end
  return table.concat(parts, " ")
end

-- Seconds by key_of(). All rows of a point have its time.
local function times_in(rows, axes)
  local times = {}
  for _, row in ipairs(rows) do
    if math.type(row.point_time_s) then times[key_of(axes, row)] = row.point_time_s end
  end
  return times
end

-- Nil where a point that is not skipped has no time.
local function seconds_from(times, axes, points, skipped)
  local seconds = {}
  for index, point in ipairs(points) do
    seconds[index] = skipped[index] and 0 or times[key_of(axes, point)]
    if not seconds[index] then return nil end
  end
  return seconds
end

-- The seconds of each point (0 where `skipped` has it) in the newest run of this machine that was measured with the
-- same options and has all these points; and its name. Nil where there is none.
function earlier_run.seconds(name, axes, points, skipped)
  for _, directory in ipairs(native.results.runs_here(name, options.out, most_runs)) do
    local ok, run = pcall(native.results.read, directory)
    if ok and run.info.status == "done" and has_same_options(run.info) then
      local seconds = seconds_from(times_in(run.rows, axes), axes, points, skipped)
      if seconds then return seconds, directory:match "[^/]+$" end
    end
  end
end

return earlier_run
