-- Measures the points of an experiment: those that claims compare in rounds, in turn; the others once. The run
-- (core/run/live_run.h) keeps, merges, judges and writes the rows.
local gb = require "gpubench.native"
local axis_text = require("gpubench.sweep.points").describe
local claim = require "gpubench.expect.claim"
local groups = require "gpubench.expect.groups"
local measurement = require "gpubench.sweep.measurement"
local progress = require "gpubench.sweep.progress"
local random_order = require "gpubench.sweep.random_order"
local related_points = require "gpubench.sweep.related_points"
local rounds = require "gpubench.sweep.rounds"
local native = gb._native
local options = native.options
local one_line = native.results.one_line
-- Those of the program, whatever a script does to its globals.
local stderr, pcall = io.stderr, pcall

local schedule = {}

-- The first points of groups, in the order in which these are measured: that of the sweep. A process that was started
-- together with others (run --repeat, ab) has a random order of its own: what one point does to the next one, such as
-- its heat, is then not the same in all processes.
local function order_of(count, related, by_first)
  local firsts = {}
  for index = 1, count do
    if not related[index] or by_first[index] then firsts[#firsts + 1] = index end
  end
  local process = options.group:match "^[^;]+;(%d+);"
  if not process then return firsts end
  local order = random_order(#firsts, options.seed + math.tointeger(process))
  for place, index in ipairs(order) do order[place] = firsts[index] end
  return order
end

-- Whether no claim is about times of the points.
local function is_untimed(declaration, axes, points, numbers)
  for _, one in ipairs(declaration.expect or {}) do
    for _, number in ipairs(claim.is_about_times(one) and numbers or {}) do
      if groups.is_about(one, measurement.first_columns(axes, points[number], number)) then return false end
    end
  end
  return true
end

-- Iterates over the groups of points.
local function groups_of(declaration, axes, points)
  local by_first, related = related_points.of(declaration, axes, points)
  local order, place = order_of(#points, related, by_first), 0
  return function()
    place = place + 1
    local first = order[place]
    if not first then return nil end
    local numbers = by_first[first] or { first }
    return rounds.group(numbers, declaration.trials or not related[first] and 1 or nil,
      is_untimed(declaration, axes, points, numbers))
  end
end

local function report_failure(row, text, traceback)
  if (row.process or 0) > 0 or not native.processes.reports_for_all() then return end
  if row.status == "ok" or row.status == "skipped" then return end
  stderr:write(one_line(text .. ": " .. native.results.failure_text(row.status, row.detail)), "\n")
  if options.traceback and traceback and traceback ~= "" then
    stderr:write(native.results.message(traceback), "\n")
  end
end

local last_words = {
  device_lost = "this process can use the device no more",
  group_lost = "the processes of this run are no longer complete",
}

local Sweep = {}
Sweep.__index = Sweep

function Sweep:text_of(index)
  return #self.axes > 0 and one_line(axis_text(self.axes, self.points[index])) or self.declaration.name
end

-- One call of run. Returns why the sweep ends with it, if it does, and why its rows could not be written.
function Sweep:call(group, point)
  local index, text = point.number, self:text_of(point.number)
  local in_rounds = group.planned > 1
  self.line:show(text, index, 1 / group.planned,
    in_rounds and string.format("round %d/%d", group.round, group.planned) or nil)
  self.run:begin(measurement.first_columns(self.axes, self.points[index], index), text)
  local measured = native.with_round_budget(in_rounds and rounds.budget_s(group.planned) or nil, measurement.measure,
    self.declaration, self.axes, self.points[index], self.seed + group.round - 1)
  self.line:clear()
  if measured.stopped == "interrupted" then return measured.stopped end
  point.seconds = point.seconds + measured.seconds
  local ok, calm, failed = pcall(self.run.take, self.run, measured.call, index, group.planned, point.seconds)
  if not ok then return measured.stopped, string.format("%s (at %s)", calm, text) end
  point.calm, point.failed = calm, #failed > 0
  for _, row in ipairs(failed) do report_failure(row, text, measured.traceback) end
  self.line:advance(index, 1 / group.planned)
  return measured.stopped
end

-- Returns why the sweep ends with the group, if it does, and why rows could not be written.
function Sweep:take_rounds(group)
  while group:has_next_round(measurement.wait_until_calm) do
    for _, point in ipairs(group:next_round()) do
      local stopped, unwritten = self:call(group, point)
      if stopped or unwritten then return stopped, unwritten end
    end
    if group.round == 1 and group.planned > 1 then group:plan() end
  end
end

-- A column that the first measured rows do not have, though one by a similar name is there, is misspelt: what is left
-- of the sweep would be measured in vain.
function Sweep:misspelt_column()
  if self.has_looked then return nil end
  local rows = self.run:rows()
  for _, row in ipairs(rows) do self.has_looked = self.has_looked or row.status == "ok" end
  local text, is_similar = claim.unknown_column(self.declaration.expect or {}, self.charts, rows)
  return is_similar and text or nil
end

-- The rows of a group whose rounds are over. Returns why they could not be written.
function Sweep:finish_group(group)
  local points = {}
  for index, point in ipairs(group.points) do
    points[index] = { point = point.number, too_long = point.too_long }
  end
  local ok, finished = pcall(self.run.finish_points, self.run, group.planned, points)
  if not ok then return finished end
  for index, one in ipairs(finished) do
    local number = group.points[index].number
    self.line:finish(number)
    for _, row in ipairs(one.rows) do
      if row.status == "error" then self.outcome = "error" end
    end
    if #one.rows > 0 then self.done, self.measured[number] = self.done + 1, true end
    if one.lost_share > 0 then
      local worst = math.max(self.disturbed.worst, one.lost_share)
      self.disturbed = { points = self.disturbed.points + 1, worst = worst }
    end
    self.on_point(number, one.rows)
  end
end

local function new_sweep(given)
  return setmetatable({
    -- As in gb.experiment.
    declaration = given.declaration, axes = given.axes, points = given.points, charts = given.charts, run = given.run,
    seed = given.seed,          -- of the first round
    on_point = given.on_point,  -- called with a point's number and rows when these are final and on disk
    line = progress.new(given.seconds),  -- seconds: how long each point is expected to take

    outcome = "done",  -- or "error", "interrupted"
    failure = nil,     -- why the run's files could not be written, or what is wrong in the script
    measured = {},     -- by point, whether it has a row
    done = 0,          -- the number of these
    unmeasured = {},   -- the other points, as tables of the axes' values
    disturbed = { points = 0, worst = 0 },
    has_looked = false,  -- for misspelt columns
  }, Sweep)
end

-- given: the first fields of a sweep, and `seconds`. Returns the sweep.
function schedule.run(given)
  local sweep = new_sweep(given)
  for group in groups_of(sweep.declaration, sweep.axes, sweep.points) do
    local stopped, unwritten = sweep:take_rounds(group)
    sweep.failure = unwritten or sweep:finish_group(group) or not stopped and sweep:misspelt_column() or nil
    if sweep.failure then
      sweep.outcome = "error"
      break
    end
    if stopped == "interrupted" then
      sweep.outcome = stopped
      break
    end
    if stopped then
      sweep.outcome = "error"
      local left = #sweep.points - sweep.done
      if left > 0 and native.processes.reports_for_all() then
        stderr:write(string.format("%s: %s not measured\n", last_words[stopped], gb.format.count(left, "point")))
      end
      break
    end
  end
  for index = 1, sweep.done < #sweep.points and #sweep.points or 0 do
    if not sweep.measured[index] then
      table.insert(sweep.unmeasured, measurement.first_columns(sweep.axes, sweep.points[index], index))
    end
  end
  return sweep
end

return schedule
