-- `gpubench check --baseline NAME`: a gate. Measures the baseline's scripts again (or judges runs that are there), and
-- with --confirm measures once more what looks SLOWER, the baseline's program beside the new one.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local fresh_processes = require "gpubench.fresh_processes"
local judged = require "gpubench.judged"
local native = gb._native

-- Below it no verdict is possible (core/compare/change.h).
local least_count = 7
local nothing_to_judge = 3
local alarm = 1

local function info_of(run)
  return native.results.read(run).info
end

local function find_baseline(name)
  local baselines, names = native.compare.baselines(native.options.out), {}
  for index, one in ipairs(baselines) do
    if one.name == name then
      if one.error then check.fail("check: the baseline '%s' cannot be read: %s", name, one.error) end
      return one
    end
    names[index] = one.name
  end
  if #names == 0 then return nil end
  check.fail("check: there is no baseline '%s' (baselines: %s)%s", name, table.concat(names, ", "),
    native.results.suggestion(name, names))
end

-- Words without the options for which drops(option, value) is true; all of these options take a value.
local function without_options(words, drops)
  local plain, index = {}, 1
  while words[index] do
    local word = words[index]
    local option, value = word:match "^(%-%-[%w-]+)=(.*)$"
    if option and drops(option, value) then
      index = index + 1
    elseif words[index + 1] and drops(word, words[index + 1]) then
      index = index + 2
    else
      plain[#plain + 1] = word
      index = index + 1
    end
  end
  return plain
end

-- Arguments of `run` without what the processes of a check get anyway. A tag names the runs that had it.
local function plain_arguments(arguments)
  local plain = {}
  for index = arguments[1] == "run" and 2 or 1, #arguments do
    local word = arguments[index]
    if word ~= "-q" and word ~= "--quiet" and word ~= "--json" then plain[#plain + 1] = word end
  end
  return without_options(plain, function(option) return option == "--out" or option == "--tag" end)
end

-- How the baseline was measured: each { arguments, count }, equal ones once.
local function calls_of(baseline)
  local calls, by_text = {}, {}
  for _, run in ipairs(baseline.runs) do
    local arguments = plain_arguments(info_of(run).arguments or {})
    local text = table.concat(arguments, "\0")
    if not by_text[text] then
      by_text[text] = { arguments = arguments, runs = {} }
      calls[#calls + 1] = by_text[text]
    end
    local runs = by_text[text].runs
    runs[#runs + 1] = run
  end
  return calls
end

local function run_once(arguments, group, process, processes, program)
  local words = { table.unpack(arguments) }
  table.move({ "-q", "--out", native.options.out }, 1, 3, #words + 1, words)
  return fresh_processes.run {
    arguments = words, group = group, process = process, processes = processes, program = program, silent = true,
  }
end

-- How many of the processes made one of the runs.
local function processes_of(runs)
  local seen, count = {}, 0
  for _, run in ipairs(runs) do
    local info = info_of(run)
    local process = info.group.process .. "\0" .. table.concat(plain_arguments(info.arguments), "\0")
    if not seen[process] then seen[process], count = true, count + 1 end
  end
  return count
end

-- Returns the folders of the new runs, and how many processes made none.
local function measure_again(baseline, count)
  local group, calls = native.compare.new_group(), calls_of(baseline)
  for index, one in ipairs(fresh_processes.in_rounds(calls, count, native.options.seed)) do
    io.stderr:write(native.results.one_line(string.format("process %d of %d: %s", index, count * #calls,
      one.item.arguments[1] or "?")), "\n")
    local status = run_once(one.item.arguments, group, one.round, count)
    local failed = index == 1 and fresh_processes.status_of(status) > 1
    if failed and not pcall(native.compare.runs_of, group, native.options.out) then
      check.fail("check: the first process ended with status %d and made no run; the reason stands above", status)
    end
  end
  local runs = native.compare.runs_of(group, native.options.out)
  return runs, count * #calls - processes_of(runs)
end

local function has_commit(program, commit)
  if not native.system.exists(program) then return false end
  local pipe <close> = io.popen("'" .. program:gsub("'", "'\\''") .. "' --version 2>/dev/null")
  return commit ~= nil and pipe:read("a"):find(commit, 1, true) ~= nil
end

-- The program that measured the baseline, where it is another one than that of the new runs; nil, and why.
local function program_of(baseline, new_program, options)
  if options.program then
    if not native.system.exists(options.program) then check.fail("check: --program %s: there is no such file", options.program) end
    return options.program
  end
  local old = info_of(baseline.runs[1]).program or {}
  if old.commit and old.commit == new_program.commit and old.build == new_program.build then
    return nil, "the baseline's program is this one: the new side is measured again, beside the stored baseline"
  end
  if old.file and has_commit(old.file, old.commit) then return old.file end
  return nil, string.format("the baseline's program (commit %s) is not at %s any more: only the new side is measured again; "
    .. "--program FILE names it", old.commit or "unknown", old.file or "a known place")
end

-- Arguments of run that leave the points with the loud rows of an experiment; parameters stay as they are. An axis with
-- a value that no list can hold keeps all of its values.
local function narrowed(arguments, loud)
  local values, names = {}, {}
  for _, row in ipairs(loud) do
    for name, value in pairs(row.axes) do
      if not values[name] then
        values[name] = {}
        names[#names + 1] = name
      end
      values[name][value] = true
    end
  end
  table.sort(names)
  local lists = {}
  for _, name in ipairs(names) do
    local list = check.sorted_keys(values[name])
    for _, value in ipairs(list) do
      if value:find "," then list = nil break end
    end
    lists[name] = list and table.concat(list, ",")
  end
  local words = without_options(arguments, function(option, value)
    return option == "--set" and lists[value:match "^([^=]*)="] ~= nil
  end)
  for _, name in ipairs(names) do
    if lists[name] then
      words[#words + 1] = "--set"
      words[#words + 1] = name .. "=" .. lists[name]
    end
  end
  return words
end

local function loud_of(call, loud)
  local list, experiments = {}, {}
  for _, run in ipairs(call.runs) do experiments[info_of(run).experiment] = true end
  for _, row in ipairs(loud) do
    if experiments[row.experiment] and not row.vanished then list[#list + 1] = row end
  end
  return list
end

-- Measures what looks worse again, in ABBA order. Returns the sides to compare.
local function measure_to_confirm(baseline, loud, new_program, count, options)
  local group = native.compare.new_group()
  local program, reason = program_of(baseline, new_program, options)
  if reason then io.stderr:write(native.results.one_line(reason), "\n") end
  local sides = { { group = group .. "-a", program = program, skipped = program == nil }, { group = group .. "-b" } }
  for _, call in ipairs(calls_of(baseline)) do
    local rows = loud_of(call, loud)
    local arguments = #rows > 0 and narrowed(call.arguments, rows)
    for process = 1, arguments and count or 0 do
      for _, index in ipairs(process % 2 == 1 and { 1, 2 } or { 2, 1 }) do
        local side = sides[index]
        if not side.skipped then
          io.stderr:write(string.format("to confirm: process %d of %d, %s\n", process, count, index == 1 and "baseline" or "new"))
          run_once(arguments, side.group, process, count, side.program)
        end
      end
    end
  end
  return { sides[1].skipped and baseline.name or sides[1].group, sides[2].group }
end

local function has_worse(loud)
  for _, row in ipairs(loud) do
    if not row.vanished then return true end
  end
  return false
end

return function(options)
  local baseline = find_baseline(options.baseline)
  if not baseline then
    io.stderr:write(string.format("check: no baseline is saved below %s; save one: gpubench baseline save %s\n",
      native.options.out, options.baseline))
    return nothing_to_judge
  end
  local count = options["repeat"] or math.max(#baseline.runs // math.max(#calls_of(baseline), 1), least_count)
  local given, without_run = options.runs and table.concat(options.runs, ","), 0
  local new
  if given then
    new = native.compare.runs_of(given, native.options.out)  -- by folder: `last` is another run after --confirm
  else
    new, without_run = measure_again(baseline, count)
  end
  local sides = { options.baseline, table.concat(new, ",") }
  local names = { options.baseline, given or "now" }
  local more = not given and { command = { "gpubench", "check", "--baseline", options.baseline } } or nil
  local result = judged.sides(sides, options, names, { more = more })
  if options.confirm and has_worse(result.loud) then
    local new_program = info_of(new[1]).program or {}
    local again = measure_to_confirm(baseline, result.loud, new_program, count, options)
    result = judged.sides(sides, options, names, { again = again, more = more })
  end
  local status = judged.print(result)
  if without_run == 0 then return status end
  io.stderr:write(string.format("check: %s made no run; the reasons stand above\n",
    gb.format.count(without_run, "process")))
  return status == 0 and alarm or status
end
