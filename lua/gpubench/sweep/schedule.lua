-- Measures the points of an experiment: those that claims compare in rounds, in turn; the others once. Rows are written
-- when the rounds of their points are over.
local gb = require "gpubench.native"
local axis_text = require("gpubench.sweep.points").describe
local claim = require "gpubench.expect.claim"
local doubts = require "gpubench.expect.doubts"
local groups = require "gpubench.expect.groups"
local measurement = require "gpubench.sweep.measurement"
local merge = require "gpubench.sweep.merge"
local processes = require "gpubench.sweep.processes"
local progress = require "gpubench.sweep.progress"
local random_order = require "gpubench.sweep.random_order"
local related_points = require "gpubench.sweep.related_points"
local rounds = require "gpubench.sweep.rounds"
local native = gb._native
local options = native.options
local one_line = native.results.one_line
-- That of the program, whatever a script does to its globals.
local stderr = io.stderr
local pcall = pcall

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
  stderr:write(one_line(string.format("%s: %s%s", text, row.status, row.detail and ": " .. row.detail or "")), "\n")
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

local function failed(call)
  for _, one in ipairs(call.rows) do
    if one.row.status ~= "ok" then return true end
  end
  return false
end

-- A later round that fails, or returns other rows, says what became of the point.
local function fails_late(point, call)
  local first = point.calls[1]
  if failed(call) then
    for _, one in ipairs(call.rows) do
      one.row.detail = string.format("in round %d: %s", #point.calls + 1, one.row.detail or one.row.status)
    end
    return call
  end
  if #call.rows == #first.rows then return nil end
  return { rows = { { row = { status = "error", detail = string.format(
    "run returned %s in round 1 and %s in round %d; every call must return as many",
    gb.format.count(#first.rows, "row"),
    gb.format.count(#call.rows, "row"), #point.calls + 1) } } } }
end

-- One call of run. Returns why the sweep ends with it, if it does, and why its rows could not be written.
function Sweep:call(group, point)
  local index, text = point.number, self:text_of(point.number)
  local in_rounds = group.planned > 1
  self.line:show(text, index, 1 / group.planned,
    in_rounds and string.format("round %d/%d", group.round, group.planned) or nil)
  self.run:begin(measurement.first_columns(self.axes, self.points[index], index), text)
  local call = native.with_round_budget(in_rounds and rounds.budget_s(group.planned) or nil, measurement.measure,
    self.declaration, self.axes, self.points[index], self.seed + group.round - 1)
  self.line:clear()
  if call.stopped == "interrupted" then return call.stopped end
  point.seconds = point.seconds + call.seconds
  local late = #point.calls > 0 and fails_late(point, call)
  if late or failed(call) then
    point.failed = late or call
    for _, one in ipairs(point.failed.rows) do report_failure(one.row, text, call.traceback) end
  else
    point.calls[#point.calls + 1] = call
  end
  self.line:advance(index, 1 / group.planned)
  return call.stopped, self:write_call(group, point, call)
end

-- The rows of the first call are on disk before the next begins; when its rounds are over, the merged ones replace
-- them. Returns why they could not be written.
function Sweep:write_call(group, point, call)
  local ok, reason = pcall(function()
    if #point.calls + (point.failed and 1 or 0) == 1 then
      for _, one in ipairs((self:rows_of(group, point))) do
        self.run:add(one.row, one.samples, one.timeline, one.profile)
      end
    end
    if group.planned == 1 or point.failed then return end
    for k, one in ipairs(call.rows) do
      local copy = { point = point.number, process = one.row.process or 0 }
      for name, value in pairs(one.row) do copy[name] = value end
      self.run:add_round(copy, group.round, k, one.samples)
    end
  end)
  if not ok then return string.format("%s (at %s)", reason, self:text_of(point.number)) end
end

-- By round, the mean of a row of process 0 and of its counterparts in the others, where all processes have it. Rows of
-- processes come one after the other.
local function mean_over_processes(figures, k, which)
  local per_process, means = #figures // processes.count, {}
  for round in pairs(figures[k][which]) do
    local rows = {}
    for rank = 0, processes.count - 1 do rows[#rows + 1] = figures[rank * per_process + k][which][round] end
    if #rows == processes.count then means[round] = #rows == 1 and rows[1] or native.results.means(rows)[1] end
  end
  return means
end

local function mean_rounds(figures)
  local list = {}
  for k = 1, #figures // processes.count do
    local busy = false
    for index = k, #figures, #figures // processes.count do busy = busy or figures[index].busy end
    list[k] = {
      all = mean_over_processes(figures, k, "all"), calm = mean_over_processes(figures, k, "calm"), busy = busy,
    }
  end
  return list
end

-- The rows of a point so far, and by row what its rounds gave.
function Sweep:rows_of(group, point)
  local merged, rounds_of
  if point.failed then
    merged, rounds_of = point.failed.rows, {}
  elseif #point.calls == 0 then
    return {}, {}
  else
    merged, rounds_of = merge.rows(point.calls, group.planned, self.axes, self.has_interval)
    rounds_of = mean_rounds(rounds_of)
  end
  for _, one in ipairs(merged) do
    one.row.point, one.row.point_time_s = point.number, point.seconds
    if one.row.status == "ok" then merge.note_slow_mean(one.row) end
    if point.too_long and one.row.status == "ok" then
      doubts.put(one.row, "quality", doubts.of("too_long", point.too_long))
    end
    one.row.verdict = self.run:verdict(one.row)
  end
  return merged, rounds_of
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

-- For the warning above the report: how many points others disturbed so that their times do not count.
function Sweep:count_disturbed(point, rows)
  local counts = #rows > 0 and not doubts.in_row(rows[1].row, "quality")
  local worst = 0
  for _, call in ipairs(point.calls) do worst = math.max(worst, call.disturbed and call.lost_share or 0) end
  if counts or worst == 0 then return end
  self.disturbed = { points = self.disturbed.points + 1, worst = math.max(self.disturbed.worst, worst) }
end

local function plain_rows(list)
  local rows = {}
  for index, one in ipairs(list) do rows[index] = one.row end
  return rows
end

-- The rows of a group whose rounds are over. Returns why they could not be written.
function Sweep:finish_group(group)
  local all, finals = {}, {}
  for _, point in ipairs(group.points) do
    local rows, rounds_of = self:rows_of(group, point)
    self.rounds[point.number] = rounds_of
    self.line:finish(point.number)
    finals[point.number] = plain_rows(rows)
    for _, one in ipairs(rows) do
      if one.row.status == "error" then self.outcome = "error" end
      all[#all + 1] = one.row
    end
    if #rows > 0 then self.done, self.measured[point.number] = self.done + 1, true end
    self:count_disturbed(point, rows)
  end
  if group.planned > 1 and #all > 0 then
    local ok, reason = pcall(self.run.replace, self.run, all)
    if not ok then return reason end
  end
  for _, row in ipairs(all) do self.on_row(row) end
  self.on_points(finals)
end

local function new_sweep(given)
  return setmetatable({
    -- As in gb.experiment.
    declaration = given.declaration, axes = given.axes, points = given.points, charts = given.charts, run = given.run,
    seed = given.seed,                  -- of the first round
    has_interval = given.has_interval,  -- by column: figures that get an interval from their rounds
    on_row = given.on_row,              -- called with a row that is final and on disk
    on_points = given.on_points,        -- the same for the points of a group: rows by the number of each
    line = progress.new(given.seconds),  -- seconds: how long each point is expected to take

    outcome = "done",  -- or "error", "interrupted"
    failure = nil,     -- why the run's files could not be written, or what is wrong in the script
    rounds = {},       -- by point and row, what its rounds gave
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
