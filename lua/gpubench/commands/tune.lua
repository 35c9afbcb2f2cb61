-- `gpubench tune SCRIPT`: applies remedies to a point of the script, one at a time and then together, measures each
-- beside the point as it was, and prints what each gains and the lines that those that help change.
local gb = require "gpubench"
require "gpubench.tune.calls"  -- before the script could reach what it takes away
local check = require "gpubench.check"
local columns = require "gpubench.columns"
local comparison = require "gpubench.tune.comparison"
local experiment = require "gpubench.experiment"
local promises = require "gpubench.tune.promises"
local record = require "gpubench.tune.record"
local remedies = require "gpubench.tune.remedies"
local subject = require "gpubench.tune.subject"
local summary = require "gpubench.tune.summary"
local native = gb._native
local stderr = io.stderr

local nothing_to_judge = 3

local function give_up(...)
  stderr:write("tune: ", native.results.one_line(string.format(...)), "\n")
  return nothing_to_judge
end

-- Where several are there, the first one: rates, which do not depend on the batch, before times.
local usual_figures = { "examples_per_s", "bytes_per_s", "elements_per_s", "step_time_s", "latency_s" }

local is_time_or_rate = { ["s"] = true, ["1/s"] = true, ["bytes/s"] = true, ["FLOP/s"] = true }

local function may_be_improved(name)
  local column = columns.of(name)
  return column.kind == "time" and is_time_or_rate[column.unit]
    and (column.better == "lower" or column.better == "higher")
end

local function row_with(rows, name)
  for _, row in ipairs(rows) do
    if math.type(row[name]) and row[name] > 0 then return row end
  end
end

-- The figure to improve, and the row that has it.
local function figure_of(target, rows, wanted)
  columns.declare(columns.read("tune", target.columns))
  if wanted then
    local row = row_with(rows, wanted)
    if not row then
      local there = check.sorted_keys(rows[1] or {})
      check.fail("tune: --figure %s: no row of the point has this column as a number above 0%s", wanted,
        native.results.suggestion(wanted, there))
    end
    columns.direction("tune: --figure " .. wanted, wanted)
    return wanted, row
  end
  local candidates = table.move(usual_figures, 1, #usual_figures, 1, {})
  table.move(target.figures, 1, #target.figures, #candidates + 1, candidates)
  local all = check.sorted_keys(rows[1] or {})
  table.move(all, 1, #all, #candidates + 1, candidates)
  for _, name in ipairs(candidates) do
    local row = row_with(rows, name)
    if row and may_be_improved(name) then return name, row end
  end
end

local function fail_at(target, tried)
  local text = string.format("tune: %s at %s: %s", target.path, target:point_text(), tried.reason)
  if native.options.traceback and (tried.traceback or "") ~= "" then
    stderr:write(native.results.message(tried.traceback), "\n")
  end
  if tried.status == "error" then native.fail(text) end
  stderr:write(native.results.one_line(text), " (", tried.status, ")\n")
  return nothing_to_judge
end

-- Leaves those whose changes work: what cannot be traced, say, fails here and not in the middle of the rounds.
local function try_each(target, applicable, others)
  local sets = {}
  for _, one in ipairs(applicable) do
    stderr:write("trying ", one.name, "\n")
    local tried, made = comparison.try(target, one.changes), true
    for _, own in ipairs(one.changes) do made = made and own.made end
    if tried.status ~= "ok" then
      others[#others + 1] = { name = one.name, reason = "it fails: " .. tried.reason }
    elseif not made then
      others[#others + 1] = { name = one.name, reason = "the script does not make the same calls again" }
    else
      sets[#sets + 1] = one
    end
  end
  return sets
end

local function base() return { name = comparison.as_it_was, changes = {} } end

local function measure(target, figure, suffix, title, sets)
  return comparison.measure(target, {
    name = "tune_" .. target.name .. suffix,
    title = string.format("%s: %s at %s", title, target.name, target:point_text()),
    sets = sets, figure = figure,
  })
end

local function helpful(sets, gains)
  local list = {}
  for _, set in ipairs(sets) do
    if comparison.verdict(gains[set.name]) == "kept" then list[#list + 1] = set end
  end
  table.sort(list, function(a, b) return gains[a.name].value > gains[b.name].value end)
  return list
end

local function union(sets)
  local all = { names = {}, changes = {} }
  for index, set in ipairs(sets) do
    all.names[index] = set.name
    table.move(set.changes, 1, #set.changes, #all.changes + 1, all.changes)
  end
  return { name = table.concat(all.names, " + "), changes = all.changes }
end

-- The helpful ones together, the best first and then one more at a time. Returns the sets, their gains, and which
-- remedies still help beside those before them.
local function measure_together(target, figure, kept)
  if #kept < 2 then return {}, {}, kept end
  local sets, still = { base() }, {}
  for count = 1, #kept do
    local set = union(table.move(kept, 1, count, 1, {}))
    set.over = sets[#sets].name
    sets[#sets + 1] = set
  end
  local gains = measure(target, figure, "_together", "Remedies together", sets)
  for count, set in ipairs(kept) do
    if comparison.verdict(gains[sets[count + 1].name]) == "kept" then still[#still + 1] = set end
  end
  return table.move(sets, 2, #sets, 1, {}), gains, still
end

-- Those that change what is learned, each beside the point with what is kept.
local function measure_learned(target, figure, kept, learned)
  if #learned == 0 then return {} end
  local start = #kept > 0 and union(kept) or base()
  start.name = #kept > 0 and "what_helps" or start.name
  local sets = { start }
  for _, set in ipairs(learned) do
    local changes = table.move(set.changes, 1, #set.changes, #start.changes + 1,
      table.move(start.changes, 1, #start.changes, 1, {}))
    sets[#sets + 1] = { name = set.name, changes = changes, changes_results = true, over = start.name }
  end
  return measure(target, figure, "_learned", "Remedies that change what is learned", sets)
end

local function is_judged(...)
  for _, gains in ipairs { ... } do
    for _, gain in pairs(gains) do
      if not gain.why then return true end
    end
  end
  return false
end

local function why_not_judged(...)
  for _, gains in ipairs { ... } do
    for _, gain in pairs(gains) do return gain.why end
  end
end

local function facts_of(recorder, figure, row)
  recorder.figure, recorder.device = figure, tostring(row.device or gb.device())
  recorder.has_own_memory = not recorder.device:find "^cpu"
  recorder.pipelines = recorder:pipelines()
  recorder.of_no_use = native.remedies_of_no_use(row)
  return recorder
end

local function split(sets)
  local plain, learned = {}, {}
  for _, set in ipairs(sets) do table.insert(set.changes_results and learned or plain, set) end
  return plain, learned
end

local function measure_alone(target, figure, plain)
  if #plain == 0 then return {} end
  return measure(target, figure, "", "Remedies one at a time", { base(), table.unpack(plain) })
end

-- The sets, gains and kept remedies, for the summary.
local function measure_all(target, figure, sets)
  local plain, learned = split(sets)
  local found = { subject = target, figure = figure, plain = plain, learned = learned }
  found.gains, found.row = measure_alone(target, figure, plain)
  found.together, found.gains_together, found.kept = measure_together(target, figure, helpful(plain, found.gains))
  found.gains_learned, found.row_learned = measure_learned(target, figure, found.kept, learned)
  found.kept_learned = helpful(learned, found.gains_learned)
  return found
end

return function(options)
  remedies.check(options.remedy)
  local target, skipped = subject.new(native.options.script, native.options.script_text, options)
  if not target then return give_up("%s skips the point: %s", native.options.script, skipped) end
  if not native.options.json then
    print(native.results.one_line(string.format("%s at %s", target.path, target:point_text())))
  end
  local recorder = record.new()
  local tried = comparison.try(target, {}, recorder)
  if tried.status ~= "ok" then return fail_at(target, tried) end
  local figure, row = figure_of(target, tried.rows, options.figure)
  if not figure then
    return give_up("%s: no row of the point has a time or a rate to improve; --figure NAME names a column", target.path)
  end
  if recorder:is_empty() then
    return give_up("%s: the point uses no dataset and no model of gpubench, so that no "
      .. "remedy can reach it", target.path)
  end
  local applicable, others = remedies.propose(facts_of(recorder, figure, row), options.remedy)
  local sets = try_each(target, applicable, others)
  local found = measure_all(target, figure, sets)
  found.others = others
  found.promises = promises.of(found.row, found.plain)
  found.promises_learned = promises.of(found.row_learned, found.learned)
  found.is_judged = #sets == 0 or is_judged(found.gains, found.gains_learned)
  if native.options.json then print(summary.json(found)) else summary.print(found) end
  if experiment.status == 2 then return 2 end
  if found.is_judged then return 0 end
  return give_up("no gain could be judged: %s", why_not_judged(found.gains, found.gains_learned))
end
