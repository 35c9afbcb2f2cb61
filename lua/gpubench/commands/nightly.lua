-- `gpubench nightly`: runs a suite on each device in turn, appends its runs to the history, and reports what changed.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local fresh_processes = require "gpubench.fresh_processes"
local history_changes = require "gpubench.reported_changes"
local night_alarms = require "gpubench.night_alarms"
local night_files = require "gpubench.night_files"
local suites = require "gpubench.suite"
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

-- What preflight.lua tells of the devices, in their order: { { name, free_memory_bytes, problems = { [check] = text } } }.
-- What is wrong with the whole machine is said.
local function look_at_devices()
  local ended = native.host.run_program({ native.host.program, "run", system.resource "lua/gpubench/preflight.lua" },
    { captured = true })
  native.check_interrupt()
  if ended.status ~= 0 then check.fail("nightly: the devices cannot be looked at (exit status %d)", ended.status) end
  local devices, by_name = {}, {}
  for line in ended.out:gmatch "[^\n]+" do
    local name, fact, text = line:match "^([^\t]*)\t([^\t]*)\t(.*)$"
    if name == "" then
      warn("doctor: %s: %s", fact, text)
    elseif fact == "free_memory_bytes" then
      by_name[name] = { name = name, free_memory_bytes = tonumber(text), problems = {} }
      devices[#devices + 1] = by_name[name]
    elseif name then
      by_name[name].problems[fact] = text
    end
  end
  return devices
end

-- Why nothing should be measured on a device now; nil where all is well.
local function unfit(suite, device)
  local problems, free = device.problems, device.free_memory_bytes
  if problems.gpu_throttling and not suite.allow_throttled then return "it is throttled: " .. problems.gpu_throttling end
  if problems.gpu_sharing then return "others use it: " .. problems.gpu_sharing end
  if problems.gpu_errors then return "errors of its memory: " .. problems.gpu_errors end
  if free and suite.free_memory_bytes and free < suite.free_memory_bytes then
    return string.format("%s are free, the suite wants %s", gb.format.bytes(free), gb.format.bytes(suite.free_memory_bytes))
  end
end

local function wait_for_idle_machine(suite)
  local limit_s = suite.wait_idle or 0
  if limit_s == 0 then return end
  local idle, found = native.contention.wait_idle(limit_s)
  if idle then return end
  warn("the machine was not idle within %s: %s; rows that this disturbs do not count", gb.format.seconds(limit_s), found)
end

-- The devices that the suite names and that are fit, and why the others are left out.
local function choose_devices(suite)
  local fit, left_out = {}, {}
  local found = look_at_devices()
  for _, device in ipairs(found) do
    if suites.wants(suite.devices, device.name) then
      local reason = unfit(suite, device)
      if reason then left_out[#left_out + 1] = device.name .. ": " .. reason else fit[#fit + 1] = device.name end
    end
  end
  for _, wanted in ipairs(suite.devices or {}) do
    local is_there = false
    for _, device in ipairs(found) do is_there = is_there or suites.wants({ wanted }, device.name) end
    if not is_there then left_out[#left_out + 1] = wanted .. ": there is no such device" end
  end
  return fit, left_out
end

-- Each script on each device in turn, so that a night that ends early has measured all devices.
local function jobs_of(suite, devices)
  local jobs = {}
  for _, script in ipairs(suite.scripts) do
    if script.once and #devices > 0 then jobs[#jobs + 1] = { script = script } end
    for _, device in ipairs(script.once and {} or devices) do
      if suites.wants(script.devices, device) then jobs[#jobs + 1] = { script = script, device = device } end
    end
  end
  return jobs
end

local describe = night_alarms.describe

-- The words behind the program's. Each value of the suite stands in one word with its option: it cannot be another one.
local function arguments_of(suite, job)
  local script = job.script
  local list = { "run", fresh_processes.script(script.path), "-q" }
  local function add(name, value)
    if value ~= nil then list[#list + 1] = fresh_processes.option(name, value) end
  end
  add("--out", out)
  add("--tag", "suite=" .. suite.name)
  add("--device", job.device)
  add("--budget", script.budget or suite.budget)
  add("--timeout", script.timeout or suite.timeout)
  for _, setting in ipairs(script.settings) do add("--set", setting) end
  if suite.quick then list[#list + 1] = "--quick" end
  return list
end

-- With -q, a line of the output is the folder of a run: one of these results only, because a script prints what it likes.
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

local function run_jobs(suite, jobs, night, began, limit_s)
  for _, job in ipairs(jobs) do
    local left_s = limit_s - (system.seconds() - began)
    if left_s <= 0 then
      night.left_out[#night.left_out + 1] = describe(job) .. ": the time was over"
    else
      local own_s = job.script.minutes and math.min(left_s, 60 * job.script.minutes) or left_s
      local started, ended = pcall(native.host.run_program, { native.host.program, table.unpack(arguments_of(suite, job)) }, { captured = true, limit_s = own_s })
      if not started then ended = { status = 2, out = "", reason = tostring(ended) } end
      local folders = folders_in(ended.out)
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
      say("%s: %s", describe(job), failure or "done")
    end
  end
end

local function by_id(list)
  local map = {}
  for _, one in ipairs(list) do map[one.id] = one end
  return map
end

-- Sorts what was reported into new regressions, improvements, and older ones that are open or have recovered.
local function judge_changes(suite, night)
  local before = history.open_changes(out)
  for _, one in ipairs(history.judge(out, suite.name)) do
    local list = night.better
    if one.worse then list = one.state == "open" and night.new or night.recovered end
    list[#list + 1] = one
    if list == night.new then table.insert(night.alarms, history_changes.line(one)) end
  end
  local still = by_id(history.open_changes(out))
  for _, one in ipairs(before) do
    if one.suite == suite.name and one.host == night.host then
      table.insert(still[one.id] and night.open or night.recovered, one)
    end
  end
end

local function judge(suite, night)
  if night.waiting then return end
  if #night.runs > 0 then
    judge_changes(suite, night)
    night.latest = history.latest(out, night.runs)
    for _, one in ipairs(night.latest) do night.reliable = night.reliable + (one.reliable and 1 or 0) end
  end
  night_alarms.look_for_missing(out, suite, night)
  night_alarms.look_at_claims(out, suite, night)
end

-- The most important of what applies: 2 before 3 before 1.
local function status_of(night)
  if night.failed then return 2 end
  if night.reliable == 0 then return 3 end
  return #night.alarms > 0 and 1 or 0
end

local function write_files(night, summary)
  for ending, text in pairs { [".txt"] = summary, [".prom"] = night_files.metrics(night) } do
    local written, reason = pcall(history.write_night, out, night.suite .. ending, text)
    if not written then
      warn("nightly: %s", reason)
      night.status = 2
    end
  end
end

-- The user's own command, through the shell, with the summary as its input.
local function call_on_alarm(command, summary)
  local program, reason = io.popen(command, "w")
  if not program then return warn("nightly: --on-alarm %s: %s", command, reason) end
  program:write(summary)
  local ok, how, status = program:close()
  if not ok then warn("nightly: --on-alarm %s: it ended with %s %d", command, how == "exit" and "status" or "signal", status) end
end

return function(options)
  local suite = suites.read(options.suite)
  suites.check_minutes("nightly: --minutes", options.minutes)
  local began = system.seconds()
  local limit_s = 60 * (options.minutes or suite.minutes)
  local devices, left_out = choose_devices(suite)
  local jobs = jobs_of(suite, devices)
  if options.dry_run then
    for _, job in ipairs(jobs) do
      say("%s: %s", describe(job), native.host.shell_text { "gpubench", table.unpack(arguments_of(suite, job)) })
    end
    for _, text in ipairs(left_out) do say("left out: %s", text) end
    say("%s within %s", gb.format.count(#jobs, "script run"), gb.format.seconds(limit_s))
    return 0
  end
  wait_for_idle_machine(suite)
  local night = { suite = suite.name, host = history.host(), devices = devices, jobs = #jobs, done = 0, reliable = 0, runs = {},
                  new = {}, better = {}, open = {}, recovered = {}, left_out = left_out, latest = {}, unmarked = {},
                  alarms = {}, missing_values = 0, experiments = {}, made_runs = {},
                  folders = {}, still_refuted = {} }
  run_jobs(suite, jobs, night, began, limit_s)
  night.not_measured = table.move(night.left_out, 1, #night.left_out, 1, {})
  local judged, reason = pcall(judge, suite, night)
  native.check_interrupt()
  if not judged then
    warn("%s", reason)
    night.waiting = true
  end
  night.seconds = system.seconds() - began
  night.status = status_of(night)
  local summary = night_files.summary(night)
  write_files(night, summary)
  io.write("\n", summary)
  for _, list in ipairs { night.alarms, night.not_measured } do
    for index = 2, #list do print(one_line(list[index])) end
  end
  io.stdout:flush()
  if #night.alarms > 0 and options.on_alarm then call_on_alarm(options.on_alarm, summary) end
  return night.status
end
