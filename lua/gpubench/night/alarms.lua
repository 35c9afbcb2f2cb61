-- What a night reports beside changes: devices that are absent, figures that earlier nights had and it lacks, and
-- claims that it refutes. Each is stored with its news at once; the summary tells the news.
local gb = require "gpubench.native"
local suites = require "gpubench.night.suite"
local native = gb._native
local history, one_line = native.history, native.results.one_line

local night_alarms = {}

-- A run of a script for people: "kernels on gpu:0", "multi_worker in 8 processes".
function night_alarms.describe(job)
  local processes = job.script.processes and string.format(" in %d processes", job.script.processes) or ""
  return job.script.name .. (job.device and " on " .. job.device or "") .. processes
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

-- "GPU-1b2c3d4e" is enough to tell cards of one machine apart.
local function short(card)
  return (card:gsub("%f[%w]([GM][PI][UG]%-%x%x%x%x%x%x%x%x)[%x-]*", "%1"))
end

local function is_card(card)
  return card:find "^GPU%-" ~= nil or card:find "^MIG%-" ~= nil
end

-- The card that is in each slot tonight.
local function cards_tonight(night)
  local cards = {}
  for _, one in ipairs(night.latest) do cards[one.slot] = one.card end
  return cards
end

-- A card of which nothing was measured: lost, or another one is in its place.
local function line_of_card(night, one, group, since)
  local count = gb.format.count(#group, "figure") .. " of it"
  local card = is_card(one.card) and " (" .. short(one.card) .. ")" or ""
  if since then return string.format("%s%s: %s, missing since %s", one.slot, card, count, one.since) end
  local now = cards_tonight(night)[one.slot]
  if now and now ~= one.card then
    local from = night.cards_before[now]
    local came = from and from ~= one.slot and "which was " .. from or not from and "which is new here"
      or "which was there before"
    return string.format("%s: the card was changed: %s is gone, %s is there now, %s; %s", one.slot, short(one.card),
      short(now), came, count)
  end
  return string.format("%s%s: %s, which the last night with it had; nothing was measured on it now",
    one.slot, card, count)
end

-- What the night lacks, by device and experiment, or by device where it has nothing at all of one: { line, ids, whole,
-- card }.
local function groups_of_missing(night, list, since)
  local measured, groups, order, experiments = {}, {}, {}, {}
  local function device_of(one) return one.slot .. "\0" .. (is_card(one.card) and one.card or "") end
  for _, one in ipairs(night.latest) do measured[device_of(one)] = true end
  for _, one in ipairs(list) do
    local device = device_of(one)
    experiments[device] = experiments[device] or {}
    experiments[device][one.experiment] = true
  end
  for _, one in ipairs(list) do
    local device = device_of(one)
    local several = next(experiments[device], next(experiments[device])) ~= nil
    local whole = one.slot ~= "" and not measured[device] and (several or is_card(one.card))
    local name = whole and device or one.experiment .. (one.slot == "" and "" or " on " .. one.slot)
    if not groups[name] then order[#order + 1], groups[name] = name, { whole = whole, card = one.card } end
    table.insert(groups[name], one)
  end
  for index, name in ipairs(order) do
    local group, one = groups[name], groups[name][1]
    local when = since and "missing since " .. one.since
    group.ids = {}
    for place, member in ipairs(group) do group.ids[place] = member.id end
    if group.whole then
      group.line = line_of_card(night, one, group, since)
    elseif #group > 1 then
      group.line = string.format("%s: %s, %s", name, gb.format.count(#group, "figure"),
        when or "which were measured the night before")
    else
      group.line = string.format("%s %s%s%s: %s", one.experiment, one.metric,
        one.axes == "" and "" or " of " .. one.axes, one.slot == "" and "" or " on " .. one.slot,
        when or "it was measured the night before")
    end
    order[index] = group
  end
  return order
end

-- Reports what the night lacks and earlier ones had. What an edited suite no longer measures is said, and no alarm.
function night_alarms.look_for_missing(out, suite, night)
  local news, known, report, given_up = {}, {}, {}, {}
  for _, one in ipairs(history.missing(out, night.runs, suite.name)) do
    if is_wanted(suite, night, one) then
      local list = one.since == "" and news or known
      list[#list + 1] = one
    end
  end
  night.missing_values = #news + #known
  -- In front what no alarm names, behind what one has just named.
  for index, group in ipairs(groups_of_missing(night, known, true)) do
    table.insert(night.not_measured, index, group.line)
  end
  for _, group in ipairs(groups_of_missing(night, news)) do
    if night.suite_was_edited and not group.whole then
      table.move(group.ids, 1, #group.ids, #given_up + 1, given_up)
      table.insert(night.not_measured, group.line .. "; the suite was edited since")
    else
      report[#report + 1] = { line = "no longer measured: " .. group.line, ids = group.ids }
      table.insert(night.not_measured, group.line)
      if group.whole and is_card(group.card) then history.close_card(out, group.card) end
    end
  end
  if report[1] then history.report_missing(out, suite.name, night.id, report) end
  if given_up[1] then history.give_up(out, given_up) end
end

-- Cards that are in another slot than before: their series go on there.
function night_alarms.look_at_cards(night)
  for slot, card in pairs(cards_tonight(night)) do
    local before = night.cards_before[card]
    if before and before ~= slot then
      table.insert(night.notes, string.format("the card %s moved from %s to %s", short(card), before, slot))
    end
  end
  table.sort(night.notes)
end

-- Devices that the suite names and that are not there: { device = whether it is there }. An alarm when one is lost, or
-- was never there.
function night_alarms.look_at_devices(out, suite, night)
  for device, is_there in pairs(night.named_devices) do
    local state = "absent " .. device
    if is_there then
      history.remember(out, suite.name, state, "")
    else
      local line = string.format("%s: there is no such device", device)
      local since = history.tell_state(out, suite.name, night.id, state, line .. "; the suite names it")
      table.insert(night.not_measured, line .. (since ~= "" and ", since " .. since or ""))
    end
  end
  local machines = history.machines(out)
  if machines[1] then
    history.tell_state(out, suite.name, night.id, "machines " .. table.concat(machines, " "), string.format(
      "two machines call themselves '%s' (machine ids %s and %s), and their figures are mixed in one series: give each "
      .. "a name of its own with --host NAME", night.host, machines[1], machines[2]))
  end
end

-- Claims of scripts below suites/ say whether the machine is sound. Those of experiments may be refuted on a sound
-- machine each night, and are news only where they were confirmed before.
function night_alarms.look_at_claims(out, suite, night)
  for _, one in ipairs(night.folders) do
    local job = one.job
    local own = night_alarms.describe(job)
      .. (#job.script.settings > 0 and " " .. table.concat(job.script.settings, " ") or "")
    local always = ("/" .. job.script.path):find("/suites/", 1, true) ~= nil
    local read, claims = pcall(history.claims, out, one.path, suite.name, night.id, own, job.device or "", always)
    if not read then io.stderr:write(one_line(one.path .. ": " .. tostring(claims)), "\n") end
    for _, refuted in ipairs(read and claims or {}) do
      if not refuted.news then table.insert(night.still_refuted, refuted.line) end
    end
  end
end

return night_alarms
