-- One row of the rounds of a point: the median of each figure, with the interval that the rounds give it.
local check = require "gpubench.check"
local columns = require "gpubench.columns"
local doubts = require "gpubench.expect.doubts"
local not_numbers = require "gpubench.sweep.not_numbers"
local native = require("gpubench.native")._native
local results, statistics = native.results, native.statistics

local merge = {}

local function ends_of(row)
  local ends = {}
  for name in pairs(row) do
    ends[results.interval_end(name, "low")], ends[results.interval_end(name, "high")] = true, true
  end
  return ends
end

-- Whole where all are, but for sums that an integer cannot hold.
local function sum(values)
  local total, is_whole = 0.0, true
  for _, value in ipairs(values) do
    total, is_whole = total + value, is_whole and math.type(value) == "integer"
  end
  return is_whole and math.tointeger(total) or total
end

local function numbers_of(rows, name)
  local values = {}
  for _, row in ipairs(rows) do
    if type(row[name]) == "number" and row[name] == row[name] then values[#values + 1] = row[name] end
  end
  return values
end

-- The value of the first round in which the figure is no number, which no median may hide.
local function lost_in(rows, name)
  for _, row in ipairs(rows) do
    if not_numbers.in_column(row, name) then return row[name] end
  end
end

local function put_figure(row, name, values, has_interval)
  local one = statistics.estimate(values)
  row[name] = one.value
  local low, high = results.interval_end(name, "low"), results.interval_end(name, "high")
  row[low], row[high] = nil, nil
  if has_interval then row[low], row[high] = one.low, one.high end
end

local shares_of_step = results.step_classes()

-- Sums and parts of some of them, which are divided by the same number.
local all_shares = table.move(shares_of_step, 1, #shares_of_step, 3, { "device_busy", "small_kernel_share" })

-- Shares exclude each other and sum to 1 in every round; their medians, each by itself, need not.
local function sum_to_one(row)
  if not row.other_share then return end
  local total = 0
  for _, name in ipairs(shares_of_step) do total = total + (row[name] or 0) end
  if total <= 0 then return end
  for _, name in ipairs(all_shares) do
    for _, column in ipairs { name, results.interval_end(name, "low"), results.interval_end(name, "high") } do
      if row[column] then row[column] = math.min(row[column] / total, 1) end
    end
  end
end

-- all, calm: rows of all rounds, and of those whose times count; at least one each. has_interval[name]: columns that
-- get an interval though no row has one.
local function of(all, calm, has_interval)
  local merged = {}
  for name, value in pairs(calm[1]) do merged[name] = value end
  local ends = ends_of(calm[1])
  for _, name in ipairs(check.sorted_keys(calm[1])) do
    local kind = columns.of(name).kind
    local rows = columns.is_disturbed(name) and calm or all
    local values = #rows > 1 and numbers_of(rows, name) or {}
    local lost = lost_in(rows, name)
    if lost then
      merged[name] = lost
    elseif #values > 0 and kind == "extent" then
      merged[name] = sum(values)
    elseif #values > 0 and kind ~= "setting" and not ends[name] then
      put_figure(merged, name, values, has_interval[name] or calm[1][results.interval_end(name, "low")] ~= nil)
    end
  end
  if #calm > 1 then sum_to_one(merged) end
  if #calm > 1 and merged.stop_reason then
    merged.stop_reason = string.format("%d rounds; the first: %s", #calm, merged.stop_reason)
  end
  return merged
end

-- Rates come from the mean step and step times from the median. Where they disagree, a reader of one has to know.
local most_apart = 1.25

function merge.note_slow_mean(row)
  if not (row.batch_size and row.examples_per_s and row.step_time_s) or row.step_time_s <= 0 then return end
  local times = row.batch_size / row.examples_per_s / row.step_time_s
  if times < most_apart then return end
  local text = string.format("the mean step takes %.1f times as long as the median", times)
  row.detail = row.detail and row.detail .. "; " .. text or text
end

-- Of every row, whatever the script measures.
local own_times = { cpu_lost_share = true, cpu_clock_hz = true, point_time_s = true }

-- Whether a busy machine changes any figure of the row.
local function has_times(row, axes)
  local chosen = {}
  for _, axis in ipairs(axes) do chosen[axis.name] = true end
  for name, value in pairs(row) do
    local measured = type(value) == "number" and not own_times[name] and not chosen[name]
    if measured and columns.is_disturbed(name) then return true end
  end
  return false
end

local function doubt_of(call, row)
  return call.disturbed or doubts.in_row(row, "quality")
end

-- calls: by round, { rows = { { row, samples, timeline, profile }, ... }, disturbed = the doubt in its times }, each
-- with as many rows. axes: those of the sweep. Returns the merged { row, samples, timeline, profile } of each (the
-- latter three of the first round), and by row { all, calm, busy }: the rows of all rounds, of those whose times count,
-- by round, and whether others disturbed one.
function merge.rows(calls, planned, axes, has_interval)
  local merged, rounds = {}, {}
  for index, first in ipairs(calls[1].rows) do
    local all, calm, by_round, why, busy = {}, {}, {}, nil, false
    for round, call in ipairs(calls) do
      local row = call.rows[index].row
      local doubt = doubt_of(call, row)
      all[round] = row
      busy = busy or call.disturbed ~= nil
      if doubt then why = why or doubt else calm[#calm + 1], by_round[round] = row, row end
    end
    local row = of(all, #calm > 0 and calm or all, has_interval)
    row.rounds = #all
    not_numbers.note(row)
    local enough = #calm >= statistics.least_for_interval
    if planned > 1 and not enough and has_times(row, axes) then
      doubts.put(row, "quality", doubts.of(why and why.kind or "unfinished", string.format(
        "the times of %d of %d rounds count, %d are needed%s", #calm, why and #all or planned,
        statistics.least_for_interval,
        why and ": " .. why.text or "")))
    end
    if planned == 1 and why and not doubts.in_row(row, "quality") and has_times(row, axes) then
      doubts.put(row, "quality", why)
    end
    merged[index] = { row = row, samples = first.samples, timeline = first.timeline, profile = first.profile }
    rounds[index] = { all = all, calm = by_round, busy = busy }
  end
  return merged, rounds
end

return merge
