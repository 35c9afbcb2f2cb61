-- `gpubench nightly`: runs a suite on each device in turn, appends its runs to the history, and reports what changed.
local gb = require "gpubench.native"
local fresh_processes = require "gpubench.fresh_processes"
local history_changes = require "gpubench.night.reported_changes"
local night_alarms = require "gpubench.night.alarms"
local night_devices = require "gpubench.night.devices"
local night_files = require "gpubench.night.files"
local second_look = require "gpubench.night.second_look"
local suites = require "gpubench.night.suite"
local native = gb._native
local history, system, one_line = native.history, native.system, native.results.one_line
local out = native.options.out

local function say(...)
  print(one_line(string.format(...)))
  io.stdout:flush()
end

local function warn(...)
  io.stderr:write(one_line(string.format(...)), "\n")
end

local function wait_for_idle_machine(suite)
  local limit_s = suite.wait_idle or 0
  if limit_s == 0 then return end
  local idle, found = native.contention.wait_idle(limit_s)
  if idle then return end
  warn("the machine was not idle within %s: %s; rows that this disturbs do not count",
    gb.format.seconds(limit_s), found)
end

-- Each script on each device in turn, so that a night that ends early has measured all devices.
local function jobs_of(suite, devices)
  local jobs = {}
  for _, script in ipairs(suite.scripts) do
    for _, device in ipairs(devices) do
      if suites.wants(script.devices, device) then
        jobs[#jobs + 1] = { script = script, device = not script.once and device or nil }
        if script.once then break end
      end
    end
  end
  return jobs
end

local describe = night_alarms.describe

-- The words of a job's command line. program: the word of this program. Each value of the suite stands in one word with
-- its option: it cannot be another one. tags: what the run is of.
local function command_of(program, suite, job, tags, settings)
  local script = job.script
  local list = script.launcher and { script.launcher, "-n", tostring(script.processes), program } or { program }
  table.move({ "run", fresh_processes.script(script.path), "-q" }, 1, 3, #list + 1, list)
  local function add(name, value)
    if value ~= nil then list[#list + 1] = fresh_processes.option(name, value) end
  end
  add("--out", out)
  for _, tag in ipairs(tags) do add("--tag", tag) end
  add("--device", job.device)
  if not script.launcher then add("--workers", script.processes) end
  add("--budget", script.budget or suite.budget)
  add("--timeout", script.timeout or suite.timeout)
  for _, setting in ipairs(settings or script.settings) do add("--set", setting) end
  if suite.quick then list[#list + 1] = "--quick" end
  return list
end

-- With -q, a line of the output is the folder of a run: one of these results only, because a script prints what it
-- likes.
local function folders_in(text)
  local function plain(path) return (path:gsub("//+", "/"):gsub("^%./", "")) end
  local folders, root = {}, plain(out .. "/results/")
  for line in text:gmatch "[^\n]+" do
    local path = plain(line)
    local run = path:sub(1, #root) == root and path:sub(#root + 1):match "^[%w_][%w_.-]*/[%w_][%w_.-]*$"
    if run and system.is_file(path .. "/results.csv") then folders[#folders + 1] = line end
  end
  return folders
end

local meanings = { [2] = "error", [3] = "nothing measured" }

-- Why the run of a script does not count as done; nil where it does.
local function failure_of(ended, folders)
  if ended.reason then return ended.reason end
  if ended.out_of_time then return "stopped: its time was over" end
  if meanings[ended.status] then return meanings[ended.status] end
  if ended.status > 3 then return string.format("ended with status %d", ended.status) end
  if #folders == 0 then return "it made no run" end
end

-- Runs that could not be appended are tried again with each later one: without waiting, because a program that holds
-- the history for long would eat the night's time.
local function append(night, folders)
  local all = table.move(night.unmarked, 1, #night.unmarked, 1, {})
  table.move(folders, 1, #folders, #all + 1, all)
  local appended = history.append(out, all, not night.has_waited)
  for _, list in ipairs { appended.pending, appended.refused } do
    for _, text in ipairs(list) do warn("%s", text) end
  end
  night.unmarked = appended.unmarked
  night.waiting = #appended.pending > 0
  night.has_waited = night.has_waited or night.waiting
end

-- Runs the script; { status, out, out_of_time } and the folders of its runs.
local function run_script(suite, job, tags, settings, limit_s)
  local words = command_of(native.host.program, suite, job, tags, settings)
  local started, ended = pcall(native.host.run_program, words, { captured = true, limit_s = limit_s })
  if not started then ended = { status = 2, out = "", reason = tostring(ended) } end
  return ended, folders_in(ended.out)
end

local function tags_of(suite, night)
  return { "suite=" .. suite.name, "night=" .. night.id }
end

local function run_jobs(suite, jobs, night, began, limit_s)
  for _, job in ipairs(jobs) do
    local left_s = limit_s - (system.seconds() - began)
    if left_s <= 0 then
      night.left_out[#night.left_out + 1] = describe(job) .. ": the time was over"
    else
      local own_s = job.script.minutes and math.min(left_s, 60 * job.script.minutes) or left_s
      local ended, folders = run_script(suite, job, tags_of(suite, night), nil, own_s)
      append(night, folders)
      native.check_interrupt()
      for _, folder in ipairs(folders) do
        local run = folder:match "([^/]+/[^/]+)/?$"
        night.runs[#night.runs + 1] = run
        night.folders[#night.folders + 1] = { path = folder, job = job }
        night.experiments[run:match "^[^/]+"], night.made_runs[job.script] = true, true
      end
      local failure = failure_of(ended, folders)
      if failure then
        night.left_out[#night.left_out + 1] = describe(job) .. ": " .. failure
        night.failed = night.failed or not ended.out_of_time and ended.status ~= 3
      else
        night.done = night.done + 1
      end
      night.say("%s: %s", describe(job), failure or "done")
    end
  end
end

local function first_of_suspects(list)
  local one = list[1]
  return string.format("%s %s%s%s (%s instead of %s)%s", one.experiment, one.metric,
    one.axes == "" and "" or " of " .. one.axes,
    one.slot == "" and "" or " on " .. one.slot, history.value_text(one.value, one.unit),
    history.value_text(one.level, one.unit),
    #list > 1 and string.format(" and %d more", #list - 1) or "")
end

-- Values far from their level are measured once more. It may take half of the night's time.
local function look_again(suite, night, limit_s)
  local count = 0
  local folders, suspects, late = second_look.measure(suite, night, limit_s / 2, function(job, settings, left_s)
    count = count + 1
    if count == 1 then night.say("measuring again what is far from its level") end
    local _, made = run_script(suite, job, { "again=" .. night.id }, settings, left_s)
    native.check_interrupt()
    return made
  end)
  if late[1] then
    night.notes[#night.notes + 1] = string.format("no time to measure %s again", gb.format.count(#late, "value"))
  end
  return folders, suspects
end

local function judge_values(suite, night, limit_s)
  night.latest = history.latest(out, night.runs)
  for _, one in ipairs(night.latest) do night.reliable = night.reliable + (one.reliable and 1 or 0) end
  local folders, suspects = look_again(suite, night, limit_s)
  local found = history.judge_night(out, suite.name, night.id, folders)
  if suspects[1] and folders[1] and found == 0 then
    night.notes[#night.notes + 1] = string.format("far from the level in one process, and not in fresh ones: %s",
      first_of_suspects(suspects))
  end
end

-- The news of this night, and of nights that ended before they could tell them; what is open beside.
local function read_news(suite, night)
  local fresh = {}
  for _, one in ipairs(history.untold(out, suite.name)) do
    local list = one.is_alarm and night.alarms or one.kind == "better" and night.better or night.recovered
    list[#list + 1], fresh[one.id] = one, true
  end
  for _, group in ipairs(history_changes.by_alarm(history.open_changes(out))) do
    if group.suite == suite.name and group.host == night.host and not fresh[group.alarm] then
      table.insert(night.open, group)
    end
  end
end

local function judge(suite, night, limit_s)
  if night.waiting then return end
  history.remember(out, suite.name, "thresholds", suite.thresholds)
  local edited = history.remember(out, suite.name, "text")
  night.suite_was_edited = edited ~= "" and edited ~= suite.checksum
  if night.suite_was_edited then night.notes[#night.notes + 1] = "the suite was edited since the last night" end
  if #night.runs > 0 then judge_values(suite, night, limit_s) end
  night_alarms.look_at_cards(night)
  night_alarms.look_at_devices(out, suite, night)
  night_alarms.look_for_missing(out, suite, night)
  history.remember(out, suite.name, "judged", night.id)
  history.remember(out, suite.name, "text", suite.checksum)
  night_alarms.look_at_claims(out, suite, night)
  read_news(suite, night)
end

-- The most important of what applies: 2 before 3 before 1.
local function status_of(night)
  if night.failed then return 2 end
  if night.reliable == 0 or night.waiting then return 3 end
  return #night.alarms > 0 and 1 or 0
end

local function write_file(suite, ending, text)
  local written, reason = pcall(history.write_night, out, suite.name .. ending, text)
  if not written then warn("nightly: %s", reason) end
  return written
end

-- The user's own command, through the shell, with the summary as its input. Whether it has run well. It gets ten
-- minutes, because other nights wait; what it prints goes to the standard error where the standard output is for a
-- program.
local function call_on_alarm(command, summary, to_error)
  local words = native.host.shell_text { "timeout", "-k", "10", "600", "sh", "-c", command }
  local program, reason = io.popen(words .. (to_error and " 1>&2" or ""), "w")
  if not program then
    warn("nightly: --on-alarm %s: %s", command, reason)
    return false
  end
  program:write(summary)
  local ok, how, status = program:close()
  if not ok then
    warn("nightly: --on-alarm %s: it ended with %s %d; the next night tells these alarms again", command,
      how == "exit" and "status" or "signal", status)
  end
  return ok
end

-- News are told once their summary is on disk and the command has run: until then each night tells them again.
local function tell(suite, night, options, summary)
  local written = write_file(suite, ".txt", summary)
  written = write_file(suite, ".prom", night_files.metrics(night)) and written
  if options.junit then
    local ok, reason = pcall(history.write_text, options.junit, night_files.junit(night))
    if not ok then warn("nightly: --junit: %s", reason) end
    written = written and ok
  end
  if not written then night.status = 2 end
  io.write(options.json and night_files.json(night) or "\n" .. summary)
  if not options.json then
    for index = 2, #night.alarms do print(one_line(night_files.line(night, night.alarms[index]))) end
    for index = 2, #night.not_measured do print(one_line(night.not_measured[index])) end
  end
  io.stdout:flush()
  if #night.alarms > 0 and options.on_alarm then
    written = call_on_alarm(options.on_alarm, summary, options.json) and written
  end
  local ids = {}
  for _, list in ipairs { night.alarms, night.better, night.recovered } do
    for _, one in ipairs(list) do ids[#ids + 1] = one.id end
  end
  if written and ids[1] then history.told(out, ids, night.id) end
end

-- Two nights of one folder would measure against each other.
local function wait_for_other_nights()
  if history.hold(out) then return end
  warn("nightly: another night that writes below %s goes on; waiting until it has ended", out)
  history.hold(out, true)
end

-- "20260301T020000Z-node7", and "-2" behind it for a second one in that second.
local function new_id(suite, host)
  local id = os.date "!%Y%m%dT%H%M%SZ" .. "-" .. host
  local before = history.remember(out, suite.name, "night", id)
  if before:sub(1, #id) ~= id then return id end
  local own = id .. "-" .. (math.tointeger(tonumber(before:sub(#id + 2))) or 1) + 1
  history.remember(out, suite.name, "night", own)
  return own
end

local function new_night(suite, jobs, devices, left_out, named_devices, say_line)
  local host = history.host()
  local known, id = pcall(new_id, suite, host)  -- a history that cannot be written now waits, and the night goes on
  if not known then id = os.date "!%Y%m%dT%H%M%SZ" .. "-" .. host end
  return {
    suite = suite.name, host = host, id = id, say = say_line,
    devices = devices, named_devices = named_devices, jobs = #jobs + #suite.unread, done = 0, reliable = 0,
    runs = {}, folders = {},
    alarms = {}, better = {}, recovered = {}, open = {}, left_out = left_out, latest = {}, unmarked = {},
    missing_values = 0,
    experiments = {}, made_runs = {}, still_refuted = {}, notes = {}, not_measured = {},
  }
end

local function measure_and_tell(suite, night, jobs, options, limit_s)
  local began = system.seconds()
  wait_for_idle_machine(suite)
  local readable, cards = pcall(history.cards, out)
  night.cards_before = readable and cards or {}
  for _, one in ipairs(suite.unread) do
    night.left_out[#night.left_out + 1], night.failed = one, true
  end
  run_jobs(suite, jobs, night, began, limit_s)
  table.move(night.left_out, 1, #night.left_out, 1, night.not_measured)
  local judged, reason = pcall(judge, suite, night, limit_s)
  native.check_interrupt()
  if not judged then
    warn("%s", reason)
    night.waiting = true
  end
  night.seconds = system.seconds() - began
  night.status = status_of(night)
  tell(suite, night, options, night_files.summary(night))
  return night.status
end

return function(options)
  if options.host then history.name_host(options.host) end
  local suite = suites.read(options.suite)
  suites.check_minutes("nightly: --minutes", options.minutes)
  local function say_line(...)
    if options.json then warn(...) else say(...) end
  end
  if not options.dry_run then wait_for_other_nights() end
  local limit_s = 60 * (options.minutes or suite.minutes)
  local devices, left_out, named_devices = night_devices.choose(suite)
  local jobs = jobs_of(suite, devices)
  if options.dry_run then
    for _, job in ipairs(jobs) do
      say("%s: %s", describe(job),
        native.host.shell_text(command_of("gpubench", suite, job, { "suite=" .. suite.name })))
    end
    for device, is_there in pairs(named_devices) do
      if not is_there then left_out[#left_out + 1] = device .. ": there is no such device" end
    end
    table.move(suite.unread, 1, #suite.unread, #left_out + 1, left_out)
    for _, text in ipairs(left_out) do say("left out: %s", text) end
    say("%s within %s", gb.format.count(#jobs, "script run"), gb.format.seconds(limit_s))
    return 0
  end
  local night = new_night(suite, jobs, devices, left_out, named_devices, say_line)
  -- Readers must not take yesterday's text for this night's, however this one ends.
  write_file(suite, ".txt", night_files.unfinished(night, "it goes on, or was killed"))
  local _ <close> = setmetatable({}, { __close = function(_, reason)
    if not night.status then
      write_file(suite, ".txt", night_files.unfinished(night, "it ended early: " .. tostring(reason or "interrupted")))
    end
  end })
  return measure_and_tell(suite, night, jobs, options, limit_s)
end
