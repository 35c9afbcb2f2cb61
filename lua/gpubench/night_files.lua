-- What a night leaves for people and for monitoring: five lines of text, and metrics in the OpenMetrics format.
local gb = require "gpubench.native"
local changes = require "gpubench.reported_changes"
local native = gb._native
local one_line = native.results.one_line

local night_files = {}

local function first_of(list, write)
  if #list == 0 then return "none" end
  return write(list[1]) .. (#list > 1 and string.format("; and %d more", #list - 1) or "")
end

local function ids(list)
  local texts = {}
  for index, one in ipairs(list) do texts[index] = "#" .. one.id end
  return #texts == 0 and "none" or table.concat(texts, ", ")
end

local function not_judged(night)
  local text = "not judged, since the history cannot be written now; "
  if #night.unmarked == 0 then return text .. "the runs wait" end
  return text .. gb.format.count(#night.unmarked, "run") .. " can be appended by 'gpubench history --rebuild' only"
end

-- night: { suite, host, devices, jobs, done, seconds, latest, reliable, new, better, open, recovered, left_out, status,
-- waiting, unmarked, alarms, not_measured, missing_values, still_refuted }. alarms, not_measured,
-- still_refuted: lines.
-- latest: as native.history.latest.
function night_files.summary(night)
  local lines = {
    string.format("%s on %s: %s", night.suite, night.host,
      #night.alarms > 0 and gb.format.count(#night.alarms, "alarm") or "no alarm"),
    string.format("measured: %d of %s on %s in %s, %d of %s reliable", night.done, gb.format.count(night.jobs, "script run"),
      #night.devices > 0 and table.concat(night.devices, ", ") or "no device", gb.format.seconds(night.seconds),
      night.reliable, gb.format.count(#night.latest, "value")),
    "new: " .. (night.waiting and #night.alarms == 0 and not_judged(night) or first_of(night.alarms, tostring))
      .. (#night.better > 0 and "; better: " .. first_of(night.better, changes.line) or ""),
    string.format("still open: %s; recovered: %s", ids(night.open), ids(night.recovered))
      .. (#night.still_refuted > 0 and "; still refuted: " .. first_of(night.still_refuted, tostring) or ""),
    "not measured: " .. first_of(night.not_measured, tostring),
  }
  for index, line in ipairs(lines) do lines[index] = one_line(line) end
  return table.concat(lines, "\n") .. "\n"
end

local function label(name, text)
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
  local function sample(name, of, value)
    lines[#lines + 1] = string.format("%s%s %s", name, labels(of), value)
  end
  local own = { { "suite", night.suite }, { "host", night.host } }
  for _, one in ipairs {
    { "gpubench_new_alarms", nil, "Regressions, missing figures and refuted claims that are news.", #night.alarms },
    { "gpubench_open_alarms", nil, "Regressions that are not resolved and have not recovered.", #night.open + #night.new },
    { "gpubench_missing_values", nil, "Figures that earlier nights had and this one lacks.", night.missing_values },
    { "gpubench_script_runs_left_out", nil, "Runs of scripts and devices that were not measured.", #night.left_out },
    { "gpubench_exit_status", nil, "0 well, 1 an alarm, 2 an error, 3 nothing measured.", night.status },
    { "gpubench_finished_seconds", "seconds", "When the night ended, in seconds since 1970.", os.time() },
    { "gpubench_took_seconds", "seconds", "How long the night took.", string.format("%.3f", night.seconds) },
  } do
    family(one[1], one[2], one[3])
    sample(one[1], own, one[4])
  end
  if night.reliable > 0 then family("gpubench_value", nil, "A reliable figure of this night, in the SI unit of the label unit.") end
  local of_labels, order = {}, {}
  for _, one in ipairs(night.latest) do
    local of = labels {
      { "suite", one.suite }, { "host", one.host }, { "slot", one.slot }, { "experiment", one.experiment },
      { "axes", one.axes }, { "metric", one.metric }, { "unit", one.unit },
    }
    if one.reliable then
      -- A suite may name a script twice. A metric may have a label set once only: the last value counts.
      if not of_labels[of] then order[#order + 1] = of end
      of_labels[of] = string.format("%.17g", one.value)
    end
  end
  for _, of in ipairs(order) do lines[#lines + 1] = "gpubench_value" .. of .. " " .. of_labels[of] end
  lines[#lines + 1] = "# EOF"
  return table.concat(lines, "\n") .. "\n"
end

return night_files
