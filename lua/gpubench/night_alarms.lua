-- What a night reports beside regressions: figures that earlier nights had and it lacks, and claims that it refutes.
local gb = require "gpubench.native"
local suites = require "gpubench.suite"
local native = gb._native
local one_line = native.results.one_line

local night_alarms = {}

-- A run of a script for people: "kernels on gpu:0".
function night_alarms.describe(job)
  return job.script.name .. (job.device and " on " .. job.device or "")
end

-- Whether a figure that was not measured tonight still belongs to the suite: it names the device, and may have a script
-- for the experiment. A script that made no run does not show which experiments it has.
local function is_wanted(suite, night, one)
  if one.slot:find "^[^+]+$" and not suites.wants(suite.devices, one.slot) then return false end
  if night.experiments[one.experiment] then return true end
  for _, script in ipairs(suite.scripts) do
    if not night.made_runs[script] then return true end
  end
  return false
end

-- What the night lacks, by device and experiment, or by device where it has nothing at all of one: a line each.
local function lines_of_missing(night, list, since)
  local has_slot, groups, order, experiments = {}, {}, {}, {}
  for _, one in ipairs(night.latest) do has_slot[one.slot] = true end
  for _, one in ipairs(list) do
    experiments[one.slot] = experiments[one.slot] or {}
    experiments[one.slot][one.experiment] = true
  end
  for _, one in ipairs(list) do
    local whole = one.slot ~= "" and not has_slot[one.slot] and next(experiments[one.slot], next(experiments[one.slot]))
    local name = whole and one.slot or one.experiment .. (one.slot == "" and "" or " on " .. one.slot)
    if not groups[name] then order[#order + 1], groups[name] = name, { whole = whole } end
    table.insert(groups[name], one)
  end
  local lines = {}
  for index, name in ipairs(order) do
    local group, one = groups[name], groups[name][1]
    local when = since and "missing since " .. one.since
    if group.whole then
      lines[index] = string.format("%s: %s of it, %s", name, gb.format.count(#group, "figure"),
        when or "which the last night with it had; nothing was measured on it now")
    elseif #group > 1 then
      lines[index] = string.format("%s: %s, %s", name, gb.format.count(#group, "figure"),
        when or "which were measured the night before")
    else
      lines[index] = string.format("%s %s%s%s: %s", one.experiment, one.metric,
        one.axes == "" and "" or " of " .. one.axes, one.slot == "" and "" or " on " .. one.slot,
        when or "it was measured the night before")
    end
  end
  return lines
end

-- Reports what the night lacks and earlier ones had.
function night_alarms.look_for_missing(out, suite, night)
  local history = native.history
  local news, known, ids = {}, {}, {}
  for _, one in ipairs(history.missing(out, night.runs, suite.name)) do
    if is_wanted(suite, night, one) then
      local list = one.since == "" and news or known
      list[#list + 1] = one
      if one.since == "" then ids[#ids + 1] = one.id end
    end
  end
  if #ids > 0 then history.report_missing(out, ids, os.date "!%Y-%m-%d") end
  night.missing_values = #news + #known
  -- In front what no alarm names, behind what one has just named.
  for index, line in ipairs(lines_of_missing(night, known, true)) do table.insert(night.not_measured, index, line) end
  for _, line in ipairs(lines_of_missing(night, news)) do
    table.insert(night.alarms, "no longer measured: " .. line)
    table.insert(night.not_measured, line)
  end
end

-- Claims of scripts below suites/ say whether the machine is sound. Those of experiments may be refuted on a sound
-- machine each night, and are news only where they were confirmed before.
function night_alarms.look_at_claims(out, suite, night)
  for _, one in ipairs(night.folders) do
    local job = one.job
    local own = night_alarms.describe(job) .. (#job.script.settings > 0 and " " .. table.concat(job.script.settings, " ") or "")
    local always = ("/" .. job.script.path):find("/suites/", 1, true) ~= nil
    local read, claims = pcall(native.history.claims, out, one.path, suite.name, own, always)
    if not read then io.stderr:write(one_line(one.path .. ": " .. tostring(claims)), "\n") end
    for _, refuted in ipairs(read and claims or {}) do
      local line = string.format("%s%s: %s (%s)", refuted.experiment, job.device and " on " .. job.device or "",
        refuted.claim, refuted.reason)
      if refuted.news then
        table.insert(night.alarms, "refuted: " .. line)
      else
        table.insert(night.still_refuted, line)
      end
    end
  end
end

return night_alarms
