-- `gpubench check --baseline NAME`: a gate. Measures the baseline's scripts again (or judges runs that are there), and
-- with --confirm measures once more what looks SLOWER, the baseline's program (--program) beside the new one.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local fresh_processes = require "gpubench.fresh_processes"
local comparisons = require "gpubench.comparisons"
local native = gb._native
local one_line = native.results.one_line

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

-- How the baseline was measured: each { script, options, left_out, text, runs }, equal ones once (a copy of the script
-- lies beside each run); and how many processes measure each of them now.
local function calls_of(baseline, options)
  local calls, by_key = {}, {}
  for _, run in ipairs(baseline.runs) do
    local call, reason = fresh_processes.stored_call(run)
    if not call then
      check.fail("check: %s; measure it yourself, and give the runs: gpubench check RUN... --baseline %s", reason,
        baseline.name)
    end
    local key = table.concat(call.options, "\0") .. "\0" .. call.text
    if not by_key[key] then
      by_key[key], call.runs = call, {}
      calls[#calls + 1] = call
    end
    local runs = by_key[key].runs
    runs[#runs + 1] = run
  end
  return calls, options["repeat"] or math.max(#baseline.runs // math.max(#calls, 1), least_count)
end

-- check gives each process these itself.
local own_options = { ["-q"] = true, ["--quiet"] = true, ["--json"] = true, ["--out"] = true }

-- Says which options of the baseline's runs their new processes do not get.
local function say_what_is_left_out(calls, trusted)
  local names = {}
  for _, call in ipairs(calls) do
    for _, name in ipairs(call.left_out) do
      if not own_options[name] and not (trusted and name == "--trusted") then names[name] = true end
    end
  end
  local list = check.sorted_keys(names)
  if #list == 0 then return end
  io.stderr:write("left out of the baseline's options: ", table.concat(list, ", "), names["--trusted"]
    and "; --trusted only counts on this command line, after you have read the scripts\n" or "\n")
end

-- options: those of the call, or others in their place.
local function run_once(call, options, group, process, processes, own)
  local arguments = { call.script, table.unpack(options) }
  if own.trusted then arguments[#arguments + 1] = "--trusted" end
  return fresh_processes.run {
    arguments = arguments, group = group, process = process, processes = processes, program = own.program,
    silent = true,
  }
end

local function table_in(info, name)
  local value = info[name]
  return type(value) == "table" and value or {}
end

-- How many of the processes made one of the runs.
local function processes_of(runs)
  local seen, count = {}, 0
  for _, run in ipairs(runs) do
    local info = info_of(run)
    local words = { tostring(table_in(info, "group").process) }
    for _, word in ipairs(table_in(info, "arguments")) do words[#words + 1] = tostring(word) end
    local process = table.concat(words, "\0")
    if not seen[process] then seen[process], count = true, count + 1 end
  end
  return count
end

-- Returns the folders of the new runs, and how many processes made none.
local function measure_again(calls, count, options)
  local group = native.compare.new_group()
  say_what_is_left_out(calls, options.trusted)
  for index, one in ipairs(fresh_processes.in_rounds(calls, count, native.options.seed)) do
    io.stderr:write(string.format("process %d of %d: %s\n", index, count * #calls, one_line(one.item.script)))
    local status = run_once(one.item, one.item.options, group, one.round, count, { trusted = options.trusted })
    local failed = index == 1 and fresh_processes.status_of(status) > 1
    if failed and not pcall(native.compare.runs_of, group, native.options.out) then
      check.fail("check: the first process ended with status %d and made no run; the reason stands above. Modules of a "
        .. "script are looked for beside its copy in the baseline, and in the folders of GPUBENCH_PATH", status)
    end
  end
  local runs = native.compare.runs_of(group, native.options.out)
  return runs, count * #calls - processes_of(runs)
end

-- The program that measures the baseline's side, where it is another one than that of the new runs; nil, and why.
local function program_of(baseline, new_program, options)
  if options.program then
    if not native.system.exists(options.program) then
      check.fail("check: --program %s: there is no such file", options.program)
    end
    return options.program
  end
  local old = table_in(info_of(baseline.runs[1]), "program")
  if old.commit and old.commit == new_program.commit and old.build == new_program.build then
    return nil, "the baseline's program is this one: the new side is measured again, beside the stored baseline"
  end
  return nil, string.format("the baseline was measured by another program (commit %s): only the new side is measured "
    .. "again; --program FILE names the baseline's", tostring(old.commit or "unknown"))
end

-- Options that leave the points with the loud rows of an experiment; parameters stay as they are. An axis with a value
-- that no list can hold keeps all of its values.
local function narrowed(options, loud)
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
  local words = {}
  for _, option in ipairs(options) do
    if not lists[option:match "^%-%-set=([^=]*)="] then words[#words + 1] = option end
  end
  for _, name in ipairs(names) do
    if lists[name] then words[#words + 1] = fresh_processes.option("--set", name .. "=" .. lists[name]) end
  end
  return words
end

local function loud_of(call, loud)
  local list, experiments = {}, {}
  for _, run in ipairs(call.runs) do experiments[tostring(info_of(run).experiment)] = true end
  for _, row in ipairs(loud) do
    if experiments[row.experiment] and not row.vanished then list[#list + 1] = row end
  end
  return list
end

-- Measures what looks worse again, in ABBA order. Returns the sides to compare.
local function measure_to_confirm(baseline, calls, loud, new_program, count, options)
  local group = native.compare.new_group()
  local program, reason = program_of(baseline, new_program, options)
  if options.runs then say_what_is_left_out(calls, options.trusted) end
  if reason then io.stderr:write(one_line(reason), "\n") end
  local sides = { { group = group .. "-a", program = program, skipped = program == nil }, { group = group .. "-b" } }
  for _, call in ipairs(calls) do
    local rows = loud_of(call, loud)
    local narrow = #rows > 0 and narrowed(call.options, rows)
    for process = 1, narrow and count or 0 do
      for _, index in ipairs(process % 2 == 1 and { 1, 2 } or { 2, 1 }) do
        local side = sides[index]
        if not side.skipped then
          io.stderr:write(string.format("to confirm: process %d of %d, %s\n", process, count,
            index == 1 and "baseline" or "new"))
          run_once(call, narrow, side.group, process, count, { program = side.program, trusted = options.trusted })
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

local function check_combination(options)
  if options.program and not options.confirm then
    check.fail "check: --program is what --confirm measures beside this program; give --confirm too"
  end
  if options.trusted and options.runs and not options.confirm then
    check.fail "check: --trusted is for the scripts that a check starts; with runs it starts none without --confirm"
  end
end

return function(options)
  check_combination(options)
  local baseline = find_baseline(options.baseline)
  if not baseline then
    io.stderr:write(string.format("check: no baseline is saved below %s; save one: gpubench baseline save %s\n",
      native.options.out, options.baseline))
    return nothing_to_judge
  end
  local calls, count, new
  local given, without_run = options.runs and table.concat(options.runs, ","), 0
  if given then
    new = native.compare.runs_of(given, native.options.out)  -- by folder: `last` is another run after --confirm
  else
    calls, count = calls_of(baseline, options)
    new, without_run = measure_again(calls, count, options)
  end
  local sides = { options.baseline, table.concat(new, ",") }
  local names = { options.baseline, given or "now" }
  local more
  if not given then
    more = { command = { "gpubench", "check", "--baseline", options.baseline, options.trusted and "--trusted" or nil } }
  end
  local result = comparisons.sides(sides, options, names, { more = more })
  if options.confirm and has_worse(result.loud) then
    if given then calls, count = calls_of(baseline, options) end
    local new_program = table_in(info_of(new[1]), "program")
    local again = measure_to_confirm(baseline, calls, result.loud, new_program, count, options)
    result = comparisons.sides(sides, options, names, { again = again, more = more })
  end
  local status = comparisons.print(result)
  if without_run == 0 then return status end
  io.stderr:write(string.format("check: %s made no run; the reasons stand above\n",
    gb.format.count(without_run, "process")))
  return status == 0 and alarm or status
end
