-- `gpubench history`: the trend of an experiment over the nights, and the upkeep of the file that holds it.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local changes = require "gpubench.night.reported_changes"
local two_columns = require "gpubench.two_columns"
local native = gb._native
local history, one_line = native.history, native.results.one_line
local out = native.options.out

local most_shown = 40
local levels = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" }

-- The latest values as a row of bars, from the smallest to the largest of them.
local function bars(points)
  local low, high = math.huge, -math.huge
  local shown = table.move(points, math.max(1, #points - most_shown + 1), #points, 1, {})
  for _, point in ipairs(shown) do low, high = math.min(low, point.value), math.max(high, point.value) end
  local parts = {}
  for index, point in ipairs(shown) do
    local share = high > low and (point.value - low) / (high - low) or 0
    parts[index] = point.reliable and levels[1 + math.floor(share * (#levels - 1) + 0.5)] or "·"
  end
  return table.concat(parts)
end

local function date(started)
  return started:match "^%d+%-%d+%-%d+" or "(no date)"
end

-- Texts by the runs that they belong to, in the order of the points.
local function events_of(series)
  local events = {}
  local function add(run, text)
    events[run] = events[run] or {}
    table.insert(events[run], text)
  end
  for _, one in ipairs(series.changes) do
    add(one.run, string.format("%s: %s -> %s  %s  %s", one.change, history.value_text(one.before, series.unit),
      history.value_text(one.after, series.unit), changes.state(one), one.cause))
  end
  for _, run in ipairs(series.outliers) do add(run, "outlier") end
  return events
end

local function print_event(started, text)
  print(one_line(string.format("    %s  %s", date(started), text)))
end

local function print_series(series)
  local points, events = series.points, events_of(series)
  local last = points[#points]
  print(one_line(string.format("  %s  %s now, %s since %s  %s", series.metric,
    history.value_text(last.value, series.unit), gb.format.count(#points, "run"), date(points[1].started),
      bars(points))))
  local before = ""
  for _, point in ipairs(points) do
    if point.started < before then print_event(point.started, "the clock was set back before this run") end
    before = point.started
    for _, text in ipairs(events[point.run] or {}) do
      print_event(point.started,
        text == "outlier" and "outlier: " .. history.value_text(point.value, series.unit) or text)
    end
    events[point.run] = nil
  end
  for _, one in ipairs(series.changes) do  -- of runs that have been pruned
    for _, text in ipairs(events[one.run] or {}) do print_event(one.started, text) end
  end
end

local function heading_of(series)
  return string.format("%s on %s, %s%s, %s%s", series.experiment, series.host,
    series.slot == "" and "no device" or series.slot, series.card == "" and "" or " (" .. series.card .. ")",
    series.suite == "" and "by hand" or "suite " .. series.suite, series.axes == "" and "" or ": " .. series.axes)
end

local function is_any(filter)
  return next(filter) == nil
end

-- Figures without a direction are there for causes, and for JSON and CSV.
local function print_trend(experiment, filter)
  local heading, shown
  for _, series in ipairs(history.trend(out, experiment, filter)) do
    if (series.watched or native.options.style.all_columns) and series.points[1] then
      local own = heading_of(series)
      if own ~= heading then print((heading and "\n" or "") .. one_line(own)) end
      heading, shown = own, true
      print_series(series)
    end
  end
  if shown then return end
  print(is_any(filter)
    and one_line("no figure of " .. experiment
      .. " has a direction that its claims or charts are about; --wide shows all")
    or "no figure is like that")
end

-- Of a fleet, the changes of one machine or figure are a few of thousands.
local function print_changes(filter)
  local found = history.changes(out, filter)
  for _, one in ipairs(found) do
    print(one_line(changes.line(one) .. (filter.state and "" or "; " .. one.state)))
  end
  if #found == 0 then print "no reported change is like that" end
end

local function list()
  local lines, open = {}, history.open_changes(out)
  for index, name in ipairs(history.experiments(out)) do
    local count = 0
    for _, one in ipairs(open) do count = count + (one.experiment == name and 1 or 0) end
    lines[index] = { name, count > 0 and gb.format.count(count, "open change") or "no alarm is open" }
  end
  two_columns.print(lines)
  if #open > 0 then print() end
  for _, one in ipairs(changes.by_alarm(open)) do print(one_line(one.line)) end
end

-- What rebuilding and merging have found is told by the next night, and here at once.
local function print_news()
  for _, one in ipairs(history.untold(out)) do
    print(one_line(string.format("not told yet: %s #%s %s", one.kind, one.id, one.line)))
  end
end

local function rebuild()
  local rebuilt = history.rebuild(out)
  for _, text in ipairs(rebuilt.left_out) do io.stderr:write("left out: ", one_line(text), "\n") end
  print(string.format("%s read from %s into %s, %d kept whose folders are gone, %s reported",
    gb.format.count(rebuilt.stored, "run"), out .. "/results", history.file(out), rebuilt.kept,
    gb.format.count(rebuilt.reported, "change")))
  print_news()
end

-- What is done instead of showing a trend; each returns its exit status, nil for 0.
local upkeep = {
  { "rebuild", rebuild },
  { "merge", function(files)
    local status = 0
    for index, one in ipairs(history.merge(out, files)) do
      if one.fault == "" then
        print(string.format("%s added from %s", gb.format.count(one.added, "run"), files[index]))
      else
        io.stderr:write("not merged: ", one_line(one.fault), "\n")
        status = 2
      end
    end
    history.judge(out)
    print_news()
    return status
  end },
  { "backup", function(file)
    history.back_up(out, file)
    print("wrote " .. file)
  end },
  { "prune", function(days) print(gb.format.count(history.prune(out, days), "run") .. " forgotten") end },
  { "resolve", function(id, options)
    local alarm = id:gsub("^#", "")
    print(string.format("alarm %s is resolved: %s", alarm,
      gb.format.count(history.resolve(out, alarm, options.note or ""), "change")))
  end },
  { "accept_missing", function(_, options)
    print(gb.format.count(history.accept_missing(out, options.experiment or ""), "missing figure") .. " accepted")
  end },
  { "export", function(file, options)
    history.write_csv(out, options.experiment or "", file)
    print("wrote " .. file)
  end },
}

-- What a trend or the changes are limited to.
local filters = { "host", "figure", "state" }

local of_one_experiment = { export = true, accept_missing = true }

local function check_combination(options)
  if options.note and not options.resolve then
    check.fail "history: --note says why a change is resolved: it needs --resolve ID"
  end
  if options.format and not options.experiment then
    check.fail("history: --format is for the trend of an experiment; there are %s",
      table.concat(history.experiments(out), ", "))
  end
  for _, one in ipairs(upkeep) do
    local name = one[1]
    if options[name] ~= nil and options.experiment and not of_one_experiment[name] then
      check.fail("history: --%s is for the whole history; leave out '%s'", name, options.experiment)
    end
    for _, filter in ipairs(filters) do
      if options[name] ~= nil and options[filter] then
        check.fail("history: --%s limits what is shown; leave out --%s", filter, name:gsub("_", "-"))
      end
    end
    if options[name] ~= nil and options.format then
      check.fail("history: --format is for the trend of an experiment; leave out --%s", name:gsub("_", "-"))
    end
  end
end

return function(options)
  check_combination(options)
  local status
  for _, one in ipairs(upkeep) do
    local name, act = one[1], one[2]
    if options[name] ~= nil then status = math.max(status or 0, act(options[name], options) or 0) end
  end
  if status then return status end
  local filter = { host = options.host, figure = options.figure, state = options.state }
  if not options.experiment then
    if is_any(filter) then list() else print_changes(filter) end
  elseif options.format == "json" then
    io.write(history.json(out, options.experiment, filter))
  elseif options.format == "csv" then
    history.write_csv(out, options.experiment, nil, filter)
  else
    print_trend(options.experiment, filter)
  end
  return 0
end
