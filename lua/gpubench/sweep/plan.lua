-- What a sweep is going to do, told before it: which points it leaves out and how long each takes.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local earlier_run = require "gpubench.sweep.earlier_run"
local related_points = require "gpubench.sweep.related_points"
local rounds = require "gpubench.sweep.rounds"
local sweep = require "gpubench.sweep.points"
local native = gb._native
local options = native.options

local plan = {}

-- skip may also end with gb.skip(reason). Returns the reason, or nil and why it cannot be known.
local function reason_to_skip(declaration, point)
  if not declaration.skip then return nil end
  local ok, status, detail = native.protect(declaration.skip, point)
  if ok then return status and tostring(status) end
  if status == "skipped" then return detail end
  return nil, detail
end

local function declared_seconds(declaration, axes, point, measurement_s)
  local result = declaration.seconds(point, measurement_s)
  if math.type(result) and result >= 0 and result < math.huge then return result end
  check.fail("gb.experiment: seconds must return a number of seconds from 0; it returned %s%s", tostring(result),
    #axes > 0 and " at " .. sweep.describe(axes, point) or "")
end

-- Returns the seconds, or a measurement's and why they cannot be known.
local function seconds_of_call(declaration, axes, point, measurement_s)
  if not declaration.seconds then return measurement_s end
  local ok, seconds, detail = native.protect(declared_seconds, declaration, axes, point, measurement_s)
  if ok then return seconds end
  return measurement_s, detail
end

-- Of building, planning and warming up, which every round repeats.
local round_setup_s = 0.1

local function expected_seconds(declaration, axes, point, calls)
  if calls == 1 then return seconds_of_call(declaration, axes, point, options.point_s) end
  local each, failure = seconds_of_call(declaration, axes, point, round_setup_s + rounds.budget_s(calls))
  local fit = declaration.trials or rounds.fitting(each)
  return each * math.min(fit, calls), failure
end

-- skipped[index]: the reason; seconds[index]: how long the point takes, 0 for one that is skipped; run: the name of the
-- run that took as long, nil where the seconds are a guess; failure: the first error of the script's functions.
function plan.of(declaration, axes, points)
  local skipped, seconds, failure = {}, {}, nil
  local calls = related_points.calls(declaration, axes, points)
  for index, point in ipairs(points) do
    local guess, failed_guess = 0, nil
    local reason, failed = reason_to_skip(declaration, point)
    if not reason then guess, failed_guess = expected_seconds(declaration, axes, point, calls(index)) end
    skipped[index], seconds[index] = reason, math.min(guess, options.timeout_s or guess)
    failure = failure or failed or failed_guess
  end
  local known, run = earlier_run.seconds(declaration.name, axes, points, skipped)
  return { skipped = skipped, seconds = known or seconds, run = run, failure = failure }
end

-- Of a guess: measurements end early where they are precise, and setting up takes as long as the machine is slow.
local guess_factor = 2

-- "11 points: 12 s, as in the run 20261121T192526Z-vm; 2 skipped"
function plan.total(planned)
  local total, skipped = 0, 0
  for index, seconds in ipairs(planned.seconds) do
    total = total + seconds
    if planned.skipped[index] then skipped = skipped + 1 end
  end
  local measured = #planned.seconds - skipped
  local text = gb.format.count(measured, "point")
  if measured > 0 and planned.run then
    text = string.format("%s: %s, as in the run %s", text, gb.format.seconds(total), planned.run)
  elseif measured > 0 then
    text = string.format("%s: %s to %s, a guess (no earlier run has these points and options)", text,
      gb.format.seconds(total / guess_factor), gb.format.seconds(total * guess_factor))
  end
  return skipped > 0 and string.format("%s; %d skipped", text, skipped) or text
end

return plan
