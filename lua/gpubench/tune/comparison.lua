-- Measures sets of remedies beside the point as it was, in rounds (schedule.lua), as an experiment whose axis is the
-- set: its rows say what was changed.
local gb = require "gpubench"
local columns = require "gpubench.columns"
local estimate = require "gpubench.expect.estimate"
local experiment = require "gpubench.experiment"
local measurement = require "gpubench.sweep.measurement"
local rounds = require "gpubench.sweep.rounds"
local native = gb._native

local comparison = {}

-- The point as it was, on the axis of sets.
comparison.as_it_was = "as_it_was"

local function texts_of(changes)
  local texts = {}
  for index, one in ipairs(changes) do texts[index] = one.text end
  return #texts > 0 and table.concat(texts, "; ") or "none"
end

-- The rows of a call of run, which say what was changed.
local function marked(result, set)
  if type(result) ~= "table" then return result end
  for _, row in ipairs(type(result[1]) == "table" and result or { result }) do
    row.changes, row.changes_results = texts_of(set.changes), set.changes_results or false
  end
  return result
end

-- One call of run, ahead of the rounds: { status, rows, or reason = why it failed and traceback }.
function comparison.try(subject, changes, recorder)
  local declaration = { run = function() return subject:run(changes, recorder) end }
  local measured = native.with_round_budget(rounds.budget_s(rounds.most), native.uninterrupted, measurement.measure,
    declaration, {}, {}, native.options.seed)
  native.check_interrupt()
  measurement.reset_devices(native.memory_in_use())
  local rows = measured.call:rows()
  for _, row in ipairs(rows) do
    if row.status ~= "ok" then
      if measured.stopped then native.fail("tune: " .. tostring(row.detail)) end
      return { status = row.status, reason = row.detail or row.status, traceback = measured.traceback }
    end
  end
  return { status = "ok", rows = rows }
end

-- How many times as good a figure is as another: rates by their ratio, times by its inverse.
local function gain_of(row, over, figure, better)
  local ratio, why = gb.expect.compare(row, over, figure)
  if not ratio then return { why = why } end
  if better == "lower" then ratio = { value = 1 / ratio.value, low = 1 / ratio.high, high = 1 / ratio.low } end
  return ratio
end

-- "kept", "worse", "no gain" or "open".
function comparison.verdict(gain)
  if gain.why then return "open" end
  if gain.low > 1 + estimate.noise then return "kept" end
  if gain.high < 1 - estimate.noise then return "worse" end
  return gain.high <= 1 + estimate.noise and "no gain" or "open"
end

function comparison.show(gain)
  return string.format("%.2f [%.2f, %.2f]", gain.value, gain.low, gain.high)
end

-- The first row of each set that has the figure.
local function rows_by_set(rows, figure)
  local by_set = {}
  for _, row in ipairs(rows) do
    if not by_set[row.remedy] or by_set[row.remedy][figure] == nil then by_set[row.remedy] = row end
  end
  return by_set
end

-- Fills gains and found.row.
local function make_judge(sets, figure, gains, found)
  local better = columns.direction("tune", figure)
  return function(rows)
    local by_set, count, texts = rows_by_set(rows, figure), {}, {}
    found.row = by_set[sets[1].name]
    for index, set in ipairs(sets) do
      if index > 1 then
        local row, over = by_set[set.name], by_set[set.over or comparison.as_it_was]
        local gain = row and over and gain_of(row, over, figure, better) or { why = "it was not measured" }
        gains[set.name] = gain
        local verdict = comparison.verdict(gain)
        count[verdict] = (count[verdict] or 0) + 1
        if verdict == "kept" then texts[#texts + 1] = set.name .. " " .. comparison.show(gain) end
      end
    end
    if count.kept then
      local text = string.format("times as good by %s: %s", figure, table.concat(texts, ", "))
      return "confirmed", text, "T" .. text:sub(2)
    end
    if not count.open then return "refuted", "none is better by more than the noise of 1 %" end
    return "inconclusive", "no interval lies beyond the noise of 1 %"
  end
end

-- what: { name, title, sets, figure, columns }. A set: { name, changes, changes_results, over = the set that it is
-- compared with }; the first is the point as it was. Returns by set { value, low, high }, how many times as good it is
-- as what it is compared with, or { why }; and the row of the point as it was.
function comparison.measure(subject, what)
  local by_name, names, gains, found = {}, {}, {}, {}
  for index, set in ipairs(what.sets) do by_name[set.name], names[index] = set, set.name end
  local own_columns = table.move(subject.columns, 1, #subject.columns, 1, {})
  table.move({ "changes", "changes_results" }, 1, 2, #own_columns + 1, own_columns)
  columns.declare(columns.read("tune", own_columns))
  experiment.declare {
    name = what.name,
    title = what.title,
    question = "Which change of the script makes it faster, and by how much?",
    reading = "Each bar is the point with a change, measured in turn with the point as it was.",
    axes = { gb.axis("remedy", names, { closed = true }) },
    columns = own_columns,
    run = function(point)
      local set = by_name[point.remedy]
      return marked(subject:run(set.changes), set)
    end,
    charts = { gb.chart.bar { x = "remedy", y = what.figure } },
    expect = {
      gb.expect.that {
        claim = "a remedy improves " .. what.figure .. " by more than the noise", reads = { what.figure },
        judge = make_judge(what.sets, what.figure, gains, found),
      },
    },
  }
  return gains, found.row
end

return comparison
