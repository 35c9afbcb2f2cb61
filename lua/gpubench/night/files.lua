-- What a night leaves for people and for monitoring: five lines of text, JSON, JUnit's XML, and metrics in the
-- OpenMetrics format.
local gb = require "gpubench.native"
local native = gb._native
local one_line = native.results.one_line

local night_files = {}

local function first_of(list, write)
  if #list == 0 then return "none" end
  return write(list[1]) .. (#list > 1 and string.format("; and %d more", #list - 1) or "")
end

local function ids(list)
  local texts = {}
  for index, one in ipairs(list) do texts[index] = "#" .. one.alarm end
  return #texts == 0 and "none" or table.concat(texts, ", ")
end

-- "#7f3k2qa9 ...", with the night that has found it before, if it ended before anybody was told.
function night_files.line(night, news)
  local again = news.night ~= night.id and news.night ~= ""
  local id = news.kind == "recovered" and "" or "#" .. news.id .. " "  -- of the alarm that is over, its line has the id
  return string.format("%s%s%s", id, again and "again (found by the night " .. news.night .. "): " or "", news.line)
end

local function not_judged(night)
  local text = "not judged, since the history cannot be written now; "
  if #night.unmarked == 0 then return text .. "the runs wait" end
  return text .. gb.format.count(#night.unmarked, "run") .. " can be appended by 'gpubench history --rebuild' only"
end

local function of(night)
  return string.format("%s on %s, night %s", night.suite, night.host, night.id)
end

-- What is new, what is open, and whether anything could be judged.
local function headline(night)
  if night.waiting and #night.alarms == 0 then return "not judged" end
  local parts = { #night.alarms == 1 and "1 new alarm" or #night.alarms > 1 and #night.alarms .. " new alarms"
    or "no new alarm" }
  if #night.open > 0 then parts[#parts + 1] = string.format("%d open", #night.open) end
  if night.reliable == 0 then table.insert(parts, 1, "nothing could be judged") end
  return table.concat(parts, ", ")
end

-- The text of a night that goes on, and of one that ended before it could judge.
function night_files.unfinished(night, why)
  return one_line(of(night) .. ": " .. why) .. "\n"
end

-- night: { suite, host, id, devices, jobs, done, seconds, latest, reliable, alarms, better, recovered, open, left_out,
-- status, waiting, unmarked, not_measured, missing_values, still_refuted, notes }. alarms, better, recovered: news;
-- open: by reported_changes.by_alarm; not_measured, still_refuted, notes: lines. latest: as native.history.latest.
function night_files.summary(night)
  local function write(news) return night_files.line(night, news) end
  local lines = {
    of(night) .. ": " .. headline(night),
    string.format("measured: %d of %s on %s in %s, %d of %s reliable", night.done,
      gb.format.count(night.jobs, "script run"),
      #night.devices > 0 and table.concat(night.devices, ", ") or "no device", gb.format.seconds(night.seconds),
      night.reliable, gb.format.count(#night.latest, "value")),
    "new: " .. (night.waiting and #night.alarms == 0 and not_judged(night) or first_of(night.alarms, write))
      .. (#night.better > 0 and "; better: " .. first_of(night.better, write) or "")
      .. (#night.notes > 0 and "; " .. table.concat(night.notes, "; ") or ""),
    string.format("still open: %s; recovered: %s", ids(night.open),
      #night.recovered == 0 and "none" or first_of(night.recovered, write))
      .. (#night.still_refuted > 0 and "; still refuted: " .. first_of(night.still_refuted, tostring) or ""),
    "not measured: " .. first_of(night.not_measured, tostring),
  }
  for index, line in ipairs(lines) do lines[index] = one_line(line) end
  return table.concat(lines, "\n") .. "\n"
end

local function plain_news(night, list)
  local plain = {}
  for index, one in ipairs(list) do
    plain[index] = { id = one.id, kind = one.kind, night = one.night, line = one.line, again = one.night ~= night.id }
  end
  return plain
end

-- A table that stays a list where it is empty does not exist in Lua: empty lists are left out.
local function some(list)
  return list[1] ~= nil and list or nil
end

-- The whole night as one line of JSON. `schema` grows when a field changes its meaning or goes away; empty lists are
-- left out.
function night_files.json(night)
  local open, values = {}, {}
  for index, one in ipairs(night.open) do open[index] = { id = one.alarm, line = one.line, figures = #one } end
  for index, one in ipairs(night.latest) do
    values[index] = { host = one.host, card = one.card, slot = one.slot, experiment = one.experiment, axes = one.axes,
                      metric = one.metric, unit = one.unit, value = one.value, reliable = one.reliable }
  end
  return native.results.json {
    schema = 1, suite = night.suite, host = night.host, night = night.id, status = night.status,
    headline = headline(night),
    jobs = night.jobs, done = night.done, seconds = night.seconds, reliable = night.reliable,
    judged = not night.waiting,
    alarms = some(plain_news(night, night.alarms)), better = some(plain_news(night, night.better)),
    recovered = some(plain_news(night, night.recovered)), open = some(open), not_measured = some(night.not_measured),
    still_refuted = some(night.still_refuted), notes = some(night.notes), values = some(values),
  } .. "\n"
end

-- A test for each alarm, each figure, and what was not measured.
function night_files.junit(night)
  local cases = {}
  for _, one in ipairs(night.alarms) do
    cases[#cases + 1] = { class = one.kind, name = "#" .. one.id, outcome = "failed",
      message = night_files.line(night, one) }
  end
  for _, one in ipairs(night.open) do
    cases[#cases + 1] = { class = "open", name = "#" .. one.alarm, outcome = "skipped",
      message = "told before, and open: " .. one.line }
  end
  for _, line in ipairs(night.not_measured) do
    cases[#cases + 1] = { class = "not measured", name = line, outcome = "error", message = line }
  end
  for _, one in ipairs(night.latest) do
    local name = one.metric .. (one.axes == "" and "" or " of " .. one.axes)
      .. (one.slot == "" and "" or " on " .. one.slot)
    cases[#cases + 1] = { class = one.experiment, name = name, outcome = one.reliable and "passed" or "skipped",
                          message = one.reliable and "" or "unreliable" }
  end
  return native.history.junit(night.suite .. " on " .. night.host, cases)
end

local function label(name, text)
  text = text:gsub("[^\n%C]", "?")
  return string.format('%s="%s"', name, (text:gsub('[\\"\n]', { ["\\"] = "\\\\", ['"'] = '\\"', ["\n"] = "\\n" })))
end

local function labels(pairs_of_text)
  local parts = {}
  for index, one in ipairs(pairs_of_text) do parts[index] = label(one[1], tostring(one[2])) end
  return "{" .. table.concat(parts, ",") .. "}"
end

function night_files.metrics(night)
  local lines = {}
  local function family(name, unit, help)
    lines[#lines + 1] = string.format("# TYPE %s gauge", name)
    if unit then lines[#lines + 1] = string.format("# UNIT %s %s", name, unit) end
    lines[#lines + 1] = string.format("# HELP %s %s", name, help)
  end
  local function sample(name, of_labels, value)
    lines[#lines + 1] = string.format("%s%s %s", name, labels(of_labels), value)
  end
  local own = { { "suite", night.suite }, { "host", night.host } }
  local new_changes = 0
  for _, one in ipairs(night.alarms) do new_changes = new_changes + (one.kind == "regression" and 1 or 0) end
  for _, one in ipairs {
    { "gpubench_new_alarms", nil, "Regressions, missing figures, lost devices and refuted claims that are news.",
      #night.alarms },
    { "gpubench_open_alarms", nil, "Regressions that are not resolved and have not recovered.",
      #night.open + new_changes },
    { "gpubench_missing_values", nil, "Figures that earlier nights had and this one lacks.", night.missing_values },
    { "gpubench_script_runs_left_out", nil, "Runs of scripts and devices that were not measured.", #night.left_out },
    { "gpubench_exit_status", nil, "0 well, 1 an alarm, 2 an error, 3 nothing measured.", night.status },
    { "gpubench_finished_seconds", "seconds", "When the night ended, in seconds since 1970.", os.time() },
    { "gpubench_took_seconds", "seconds", "How long the night took.", string.format("%.3f", night.seconds) },
  } do
    family(one[1], one[2], one[3])
    sample(one[1], own, one[4])
  end
  if night.reliable > 0 then
    family("gpubench_value", nil, "A reliable figure of this night, in the SI unit of the label unit.")
  end
  local of_series, order = {}, {}
  for _, one in ipairs(night.latest) do
    local text = labels {
      { "suite", one.suite }, { "host", one.host }, { "slot", one.slot }, { "experiment", one.experiment },
      { "axes", one.axes }, { "metric", one.metric }, { "unit", one.unit },
    }
    if one.reliable then
      -- A suite may name a script twice. A metric may have a label set once only: the last value counts.
      if not of_series[text] then order[#order + 1] = text end
      of_series[text] = string.format("%.17g", one.value)
    end
  end
  for _, text in ipairs(order) do lines[#lines + 1] = "gpubench_value" .. text .. " " .. of_series[text] end
  lines[#lines + 1] = "# EOF"
  return table.concat(lines, "\n") .. "\n"
end

return night_files
