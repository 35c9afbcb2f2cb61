-- gb.experiment: declares what a script measures, sweeps over the axes, writes the run and prints it.
local gb = require "gpubench.native"
local chart = require "gpubench.chart"
local check = require "gpubench.check"
local claim = require "gpubench.expect.claim"
local columns = require "gpubench.columns"
local device_facts = require "gpubench.device_facts"
local estimate = require "gpubench.expect.estimate"
local experiment_options = require "gpubench.experiment_options"
local idle = require "gpubench.sweep.idle"
local left_out = require "gpubench.expect.left_out"
local earlier_run = require "gpubench.sweep.earlier_run"
local emulated = require "gpubench.sweep.emulated"
local exit_status = require "gpubench.exit_status"
local headlines = require "gpubench.expect.headlines"
local measurement = require "gpubench.sweep.measurement"
local param = require "gpubench.param"
local plan = require "gpubench.sweep.plan"
local processes = require "gpubench.sweep.processes"
local row_printer = require "gpubench.sweep.row_printer"
local schedule = require "gpubench.sweep.schedule"
local sweep = require "gpubench.sweep.points"
local native = gb._native
local options = native.options
local one_line = native.results.one_line
-- Those of the program, whatever a script does to its globals.
local pcall, stdout, stderr = pcall, io.stdout, io.stderr

-- With --json or --quiet, standard output is for programs.
local for_people = not options.json and not options.quiet

local function say(text)
  if for_people then stdout:write(text, "\n") end
end

local function say_json(kind, declaration, run, fields)
  if not options.json or processes.index > 0 then return end
  fields.kind, fields.experiment, fields.run = kind, declaration.name, run:name()
  stdout:write(native.results.json(fields), "\n")
  stdout:flush()
end

local experiment = {
  -- The program's exit status after the experiments so far.
  status = 0,
  -- Names of the script's experiments.
  declared = {},
}

local function has_axis(axes, name)
  for _, one in ipairs(axes) do
    if one.name == name then return true end
  end
  return false
end

local function dry_run(declaration, axes, points)
  native.keep_configuration()
  say(declaration.name .. ": " .. one_line(declaration.title))
  if not has_axis(axes, "device") then gb.device() end  -- one that is not there is an error now too
  local planned = plan.of(declaration, axes, points)
  if planned.failure then error(planned.failure, 0) end
  for index, point in ipairs(points) do
    local reason = planned.skipped[index]
    local text = sweep.describe(axes, point) .. (reason and "  skipped: " .. reason or "")
    say(string.format("%4d  %s", index, one_line(text)))
  end
  say(plan.total(planned))
  native.reset_devices()
  return {}
end

-- A plain copy of the sentences that a script's `answer` returns, nil for none; what is wrong with them.
local function sentences_of(answer, rows)
  local said = answer(rows)
  if type(said) == "string" then said = { said } end
  if type(said) == "table" then said = table.move(said, 1, #said, 1, {}) end
  return said, headlines.what_is_wrong(said)
end

-- What the run answers: what the script's `answer` says of its rows, else what its claims found. A function that fails
-- costs the sentence and not the run.
local function answers_of(declaration, rows, verdicts, notes)
  local claims = declaration.expect or {}
  if not declaration.answer or #rows == 0 then return headlines.of(verdicts, claims) end
  local ok, said, wrong = native.ask(sentences_of, declaration.answer, rows)
  if not ok or wrong then
    notes[#notes + 1] = "the function 'answer' failed: " .. (ok and wrong or tostring(said))
    said = nil
  end
  return headlines.of(verdicts, claims, said)
end

-- Facts that are known once all points are done.
local function late_facts(rows)
  local facts = {
    emulated_profiles = emulated.profiles(rows) or {},
    data = native.data_origins(),
    best_matmul_flops_per_s = native.matmul_peaks(),
    best_copy_bytes_per_s = native.copy_peaks(),
  }
  for name, fact in pairs(facts) do
    if not next(fact) then facts[name] = nil end
  end
  return facts
end

local claim_fields = { "id", "claim", "verdict", "reason", "answer" }
local column_fields = { "name", "unit", "better", "kind", "threshold" }

-- Copies of the tables in a list that have these fields only.
local function only(names, list)
  local all = {}
  for index, one in ipairs(list) do
    all[index] = {}
    for _, name in ipairs(names) do all[index][name] = one[name] end
  end
  return all
end

local function write_files(run, rows, outcome, charts, verdicts, warnings, answers)
  run:set_info(late_facts(rows))
  if warnings[1] then run:set_info { warnings = warnings } end
  if answers[1] then run:set_info { answers = answers } end
  return run:finish { status = outcome, charts = charts, expectations = only(claim_fields, verdicts) }
end

-- What claims are about: the means over all processes, with what their rounds gave.
local function judged_rows(run)
  local rows = {}
  for index, one in ipairs(run:judged_rows()) do
    rows[index] = one.row
    estimate.set_rounds(one.row, one)
  end
  return rows
end

-- What the rows say: verdicts, warnings, answers, charts with the places that claims found, and notes on what failed.
local function conclude(declaration, axes, charts, run, rows, swept)
  local judged, claims = judged_rows(run), declaration.expect or {}
  local verdicts = claim.judge_all(claims, judged, axes, swept.unmeasured)
  local warnings, notes = emulated.warnings(rows), {}
  local others = headlines.warnings(swept.disturbed, #swept.points, verdicts)
  table.move(others, 1, #others, #warnings + 1, warnings)
  local answers = emulated.mark(answers_of(declaration, judged, verdicts, notes), rows)
  local unfit = declaration.claims_left_out
  if unfit then answers[#answers + 1] = { answer = unfit, verdict = "inconclusive", why = unfit } end
  return {
    verdicts = verdicts, warnings = warnings, answers = answers, notes = notes,
    charts = chart.with_knees(charts, claims, verdicts),
  }
end

-- The files come first, since printing may block or fail; what was measured is written even where it cannot be judged,
-- and shown even where it cannot be written. Returns the verdicts and what failed.
local function finish(declaration, axes, charts, run, rows, swept, printer)
  if processes.index > 0 then return {} end
  local is_judged, found = pcall(conclude, declaration, axes, charts, run, rows, swept)
  local failure = not is_judged and found or nil
  if failure then found = { verdicts = {}, warnings = {}, answers = {}, notes = {}, charts = charts } end
  local verdicts, warnings, answers = found.verdicts, found.warnings, found.answers
  local ok, written = pcall(write_files, run, rows, swept.outcome, found.charts, verdicts, warnings, answers)
  if printer then printer:finish() end
  for _, note in ipairs(found.notes) do stderr:write(one_line(note), "\n") end
  if not ok then return verdicts, written end
  for _, note in ipairs(written.notes) do stderr:write(one_line(note), "\n") end
  say("report: " .. written.report:gsub("^%./", ""))
  if options.quiet and not options.json then stdout:write(run:directory():gsub("^%./", ""), "\n") end
  say_json("run", declaration, run, {
    directory = run:directory(), status = swept.outcome, rows = #rows, answers = answers[1] and answers or nil,
    expectations = verdicts[1] and only(claim_fields, verdicts) or nil, warnings = warnings[1] and warnings or nil,
  })
  return verdicts, failure
end

local function raise_status(declaration, axes, outcome, rows, verdicts)
  if outcome == "error" then experiment.status = 2 end
  for _, reason in ipairs(exit_status.reasons(rows, axes, verdicts, options)) do
    experiment.status = exit_status.worse(experiment.status, reason.status)
    if processes.index == 0 then
      stderr:write(one_line(string.format("%s: %s (exit status %d)", declaration.name, reason.text,
        reason.status)), "\n")
    end
  end
end

-- Of the processes of a run, process 0 fails for all: which one fails first does not decide the status.
local function check_required_devices()
  if #options.require == 0 then return end
  local missing = exit_status.missing_device(options.require)
  if processes.count > 1 then
    for _, outcome in ipairs(native.processes.conclude { missing = missing }) do
      missing = missing or outcome.missing
    end
  end
  if not missing then return end
  if processes.index > 0 then native.processes.barrier() end
  experiment.status = exit_status.worse(experiment.status, 3)
  native.fail_requirement(missing)
end

-- Name, axes and points as text, which all processes have to have alike.
local function summary(declaration, axes, points)
  local parts = { declaration.name }
  for _, one in ipairs(axes) do
    local values = {}
    for index, value in ipairs(one.values) do values[index] = tostring(value) end
    parts[#parts + 1] = one.name .. "=" .. table.concat(values, ",")
  end
  return string.format("%s (%s)", table.concat(parts, " "), gb.format.count(#points, "point"))
end

-- The columns that claims and charts are about, in the order in which they are named.
local function figures_of(claims, charts)
  local list, seen = {}, {}
  for _, about in ipairs { claims, charts } do
    for _, one in ipairs(about) do
      for _, name in ipairs { one.y or false, one.with or false, table.unpack(one.reads or {}) } do
        if name and not seen[name] then list[#list + 1] = name end
        seen[name] = true
      end
    end
  end
  return list
end

-- Of a process that was started together with others (fresh_processes.lua).
local function group_facts()
  local id, process, count, varied = options.group:match "^([^;]+);(%d+);(%d+);(.*)$"
  if not id then return nil end
  local names = {}
  for name in varied:gmatch "[^,]+" do names[#names + 1] = name end
  return { id = id, process = math.tointeger(process), processes = math.tointeger(count),
    varied = names[1] and names or nil }
end

-- Process 0 writes the files. Returns the run, and its folder for all processes.
local function new_run(declaration, axes, charts, seed)
  local together = processes.count > 1 and processes.describe() or nil
  local is_first = processes.index == 0
  if together and is_first then
    say(string.format("%d processes: %s", #together, table.concat(together, ", ")))
  end
  if is_first and not has_axis(axes, "device") then gb.device() end  -- the facts name GPUs that its choice passes over
  local figures = figures_of(declaration.expect or {}, charts)
  local run = native.results.new_run {
    experiment = declaration.name,
    title = declaration.title,
    axes = sweep.names(axes),
    columns = only(column_fields, declaration.columns or {}),
    out = options.out,
    charts = charts,
    claims = claim.announced(declaration.expect or {}),
    figures = figures,
    chart_formats = options.chart_formats,
  }
  local directory = together and native.processes.from_first(run:directory()) or run:directory()
  if not is_first then return run, directory end
  run:set_info {
    question = declaration.question,
    cause = declaration.cause,
    remedy = declaration.remedy,
    reading = declaration.reading,
    figures = figures,
    tags = options.tags[1] and options.tags or nil,
    params = next(param.values) and param.values or nil,
    changed_params = param.changed[1] and param.changed or nil,
    group = group_facts(),
    arguments = options.arguments,
    options = earlier_run.options(),
    axes = sweep.plain(axes),
    seed = seed,
    floatx = gb.config.floatx(),
    dtype_policy = gb.config.dtype_policy(),
    devices = device_facts.devices(),
    no_gpu = native.gpu_absence(),
    unusable_gpus = device_facts.unusable_gpus(),
    machine_checks = device_facts.problems(),
    processes = together,
  }
  return run, directory
end

local function measure_and_finish(declaration, axes, charts, points)
  local seed = native.keep_configuration()
  local run, directory = new_run(declaration, axes, charts, seed)
  local _ <close> = processes.index > 0 and processes.end_of_run(directory) or nil
  idle.before_first_point(claim.any_about_times(declaration.expect))
  -- A process that fails in the first point must not end what others still do for the run.
  if processes.count > 1 then native.processes.conclude {} end
  local printer = for_people and processes.index == 0 and row_printer.new(run, options.style) or nil
  local swept = schedule.run {
    declaration = declaration, axes = axes, points = points, charts = charts, run = run, seed = seed,
    seconds = plan.of(declaration, axes, points).seconds,
    on_point = function(number, rows)
      for _, row in ipairs(rows) do say_json("row", declaration, run, { row = row }) end
      if not printer then return end
      printer:take(number)
      printer:print_ready()
    end,
  }
  local outcome, rows = swept.outcome, run:rows()
  measurement.reset_devices(native.memory_in_use())
  local verdicts, unfinished = finish(declaration, axes, charts, run, rows, swept, printer)
  -- A process whose script fails behind its experiment would end process 0 while that still writes.
  if processes.count > 1 and outcome == "done" then native.processes.barrier() end
  native.check_interrupt()
  local failure = swept.failure or unfinished
    or outcome == "done" and claim.unknown_column(declaration.expect or {}, charts, rows)
  if failure then error(failure, 0) end  -- it has its place in the script
  raise_status(declaration, axes, outcome, rows, verdicts)
  return rows
end

-- The name of the experiment that measures its points.
local running

function experiment.declare(declaration)
  if running then
    check.fail("gb.experiment: it is called by the experiment '%s', which measures its points; "
      .. "declare the second one after it",
      running)
  end
  declaration = experiment_options.read(declaration, experiment.declared)
  columns.declare(declaration.columns)
  local axes = sweep.override(declaration.axes or {}, options.axes, options.device)
  for _, one in ipairs(axes) do
    for _, value in ipairs(one.values) do native.results.check_axis_value(one.name, value) end
  end
  local points = sweep.points(axes)
  claim.check(declaration.expect or {}, axes)
  declaration.expect, declaration.claims_left_out = left_out.split(declaration.expect or {}, axes, options.axes)
  local charts = chart.with_limits(chart.expand(declaration.charts or {}, axes), declaration.expect or {})
  experiment.declared[declaration.name] = true
  check_required_devices()
  if options.dry_run then return dry_run(declaration, axes, points) end

  if processes.count > 1 then native.processes.agree(summary(declaration, axes, points), "experiments") end
  running = declaration.name
  local _ <close> = setmetatable({}, { __close = function() running = nil end })
  return native.uninterrupted(measure_and_finish, declaration, axes, charts, points)
end

return experiment
