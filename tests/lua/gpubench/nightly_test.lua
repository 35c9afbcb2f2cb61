-- Which devices a night leaves out, by what doctor finds on them.
local gb = require "gpubench"
local testing = require "testing"
local native = gb._native

local function joined(words) return table.concat(words, " ") end

-- What a dry run says where the look at the devices prints these lines.
local function night(lines, suite_text)
  local path = native.options.out .. "/results/night.lua"
  local file <close> = assert(io.open(path, "w"))
  file:write(suite_text or 'return { minutes = 1, free_memory_bytes = 8e9, scripts = { "batch_size" } }')
  file:close()
  local said, warned, host, print_before, stderr = {}, {}, native.host, print, io.stderr
  native.host = {
    program = "gpubench", shell_text = joined,
    run_program = function() return { status = 0, out = table.concat(lines, "\n") .. "\n", out_of_time = false } end,
  }
  print = function(text) said[#said + 1] = text end
  io.stderr = { write = function(_, ...) warned[#warned + 1] = table.concat { ... } end }
  local ok, reason = pcall(function() return testing.command "nightly" { suite = path, dry_run = true } end)
  native.host, print, io.stderr = host, print_before, stderr
  assert(ok, reason)
  return table.concat(said, "\n"), table.concat(warned)
end

local free = "\tfree_memory_bytes\t9e9"

testing.case("a GPU that is throttled, shared or faulty is left out, and the others are measured", function()
  local text = night {
    "gpu:0" .. free, "gpu:1" .. free, "gpu:2" .. free, "gpu:3\tfree_memory_bytes\t1e9", "gpu:4" .. free,
    "cpu:0" .. free,
    "gpu:0\tgpu_throttling\tthermal slowdown, 92 °C",
    "gpu:1\tgpu_sharing\tused by python3 (process 17)",
    "gpu:2\tgpu_errors\t2 uncorrected since the driver was loaded",
    "gpu:4\tgpu_persistence\toff",
  }
  testing.contains(text, "left out: gpu:0: it is throttled: thermal slowdown, 92 °C")
  testing.contains(text, "left out: gpu:1: others use it: used by python3 (process 17)")
  testing.contains(text, "left out: gpu:2: errors of its memory: 2 uncorrected")
  testing.contains(text, "left out: gpu:3: 954 MiB are free")
  testing.contains(text, "batch_size on gpu:4:")
  testing.contains(text, "batch_size on cpu:0:")
end)

testing.case("a suite may allow a throttled GPU", function()
  local text = night({ "gpu:0" .. free, "gpu:0\tgpu_throttling\tthermal slowdown" },
    'return { minutes = 1, allow_throttled = true, scripts = { "batch_size" } }')
  testing.contains(text, "batch_size on gpu:0:")
end)

testing.case("what is wrong with the whole machine is said", function()
  local _, warned = night { "cpu:0" .. free, "\tcpu_governor\tprocessor 0: powersave" }
  testing.contains(warned, "doctor: cpu_governor: processor 0: powersave")
end)

local function stub(of, replaced)
  return setmetatable(replaced, { __index = of })
end

-- A night of a suite whose scripts all make one run on cpu:0, with functions of gb._native.history replaced. What it
-- leaves: { status, files = { [ending] = text }, said, warned }.
local function whole_night(replaced, suite_text)
  local path = native.options.out .. "/results/whole.lua"
  local file <close> = assert(io.open(path, "w"))
  file:write(suite_text or 'return { minutes = 1, scripts = { "batch_size", "models", "inference" } }')
  file:close()
  local left, said, warned, runs = { files = {} }, {}, {}, 0
  local saved = { host = native.host, history = native.history, system = native.system, print = print, io = io }
  local function nothing() return {} end
  native.host = stub(saved.host, {
    program = "gpubench",
    run_program = function(arguments)
      local script, text = arguments[3]:match "([^/]+)%.lua$", "cpu:0" .. free
      if script ~= "preflight" then
        runs = runs + 1
        text = native.options.out .. "/results/" .. script .. "/run" .. runs
      end
      return { status = 0, out = text .. "\n", out_of_time = false }
    end,
  })
  native.system = stub(saved.system, {
    is_file = function(name) return name:find "/results.csv$" ~= nil or saved.system.is_file(name) end,
  })
  native.history = stub({
    host = function() return "h" end,
    append = function() return { pending = {}, refused = {}, unmarked = {} } end,
    write_night = function(_, name, text) left.files[name:match "%.%a+$"] = text end,
    open_changes = nothing, latest = nothing, missing = nothing, claims = nothing, untold = nothing, suspects = nothing,
    cards = nothing, machines = nothing, judge_night = function() return 0 end, told = nothing,
    report_missing = nothing,
    remember = function() return "" end, tell_state = function() return "" end, hold = function() return true end,
  }, replaced)
  print = function(text) said[#said + 1] = text end
  io = stub(saved.io, {
    stderr = { write = function(_, ...) warned[#warned + 1] = table.concat { ... } end },
    write = function(...) said[#said + 1] = table.concat { ... } end,
  })
  for _, name in ipairs { "gpubench.night.alarms", "gpubench.night.second_look", "gpubench.night.suite" } do
    package.loaded[name] = nil
  end
  local ok, reason = pcall(function() left.status = testing.command "nightly" { suite = path } end)
  native.host, native.history, native.system, print, io = saved.host, saved.history, saved.system, saved.print, saved.io
  for _, name in ipairs { "gpubench.night.alarms", "gpubench.night.second_look", "gpubench.night.suite" } do
    package.loaded[name] = nil
  end
  assert(ok, reason)
  left.said, left.warned = table.concat(said, "\n"), table.concat(warned)
  return left
end

testing.case("a history that another program holds is waited for once in a night", function()
  local waited, given = {}, {}
  local left = whole_night {
    append = function(_, folders, wait)
      waited[#waited + 1], given[#given + 1] = wait, table.concat(folders, " ")
      return { pending = { folders[#folders] .. ": locked" }, refused = {}, unmarked = { folders[#folders] } }
    end,
  }
  testing.equal(waited, { true, false, false })
  local root = native.options.out .. "/results/"
  testing.equal(given, { root .. "batch_size/run1", root .. "batch_size/run1 " .. root .. "models/run2",
    root .. "models/run2 " .. root .. "inference/run3" })
  testing.contains(left.files[".txt"], "new: not judged, since the history cannot be written now; 1 run can be "
    .. "appended by 'gpubench history --rebuild' only\n")
end)

testing.case("a night whose history fails while it is judged has its summary", function()
  local left = whole_night { judge_night = function() error("history: the disk is full", 0) end }
  testing.contains(left.warned, "history: the disk is full")
  testing.contains(left.files[".txt"], "new: not judged, since the history cannot be written now; the runs wait\n")
  testing.contains(left.files[".txt"], "measured: 3 of 3 script runs on cpu:0")
end)

testing.case("what has recovered is told, and is no alarm", function()
  local left = whole_night {
    untold = function()
      return { { id = "b2c3d4e5", kind = "recovered", is_alarm = false, night = "",
        line = "#a1b2c3d4: matmul call_s as before" } }
    end,
  }
  testing.equal(left.status, 3)  -- no value is stubbed
  testing.contains(left.files[".txt"], "new: none\nstill open: none; recovered: #a1b2c3d4: matmul call_s as before\n")
end)

testing.case("what an earlier night found and nobody told comes again with its id", function()
  local told
  local left = whole_night {
    untold = function()
      return { { id = "a1b2c3d4", kind = "regression", is_alarm = true, night = "20260101T000000Z-h", line = "slow" } }
    end,
    told = function(_, ids) told = ids end,
  }
  testing.contains(left.files[".txt"], "new: #a1b2c3d4 again (found by the night 20260101T000000Z-h): slow\n")
  testing.equal(told, { "a1b2c3d4" })
end)

testing.case("news count as told only when the summary is on disk", function()
  local left = whole_night {
    untold = function()
      return { { id = "a1b2c3d4", kind = "regression", is_alarm = true, night = "", line = "slow" } }
    end,
    write_night = function() error("the disk is full", 0) end,
    told = function() error "nobody was told" end,
  }
  testing.equal(left.status, 2)
end)

-- A series that a night lacks; the stubbed nights measure on cpu:0.
local function lost(fields)
  return setmetatable(fields, { __index = { id = 1, since = "", experiment = "models", metric = "call_s",
    slot = "gpu:0", card = "", host = "h", axes = "", suite = "whole" } })
end

local function measured_on_cpu()
  return { { slot = "cpu:0", card = "a processor", suite = "whole", host = "h", experiment = "matmul", axes = "",
    metric = "call_s", unit = "s",
    value = 1, reliable = true } }
end

-- The lines that a night reports as missing.
local function reported(replaced, suite_text)
  local lines = {}
  replaced.report_missing = function(_, _, _, groups)
    for _, group in ipairs(groups) do lines[#lines + 1] = group.line .. " (" .. #group.ids .. ")" end
  end
  return table.concat(lines, "\n"), whole_night(replaced, suite_text), lines
end

testing.case("a device that is gone is as loud as a regression, once, and is named until it is back", function()
  local both = { lost { id = 1 }, lost { id = 2, experiment = "inference" } }
  local _, _, lines = reported { latest = measured_on_cpu, missing = function() return both end }
  testing.equal(lines, { "no longer measured: gpu:0: 2 figures of it, which the last night with it had; nothing was "
    .. "measured on it now (2)" })
  local _, later, again = reported {
    latest = measured_on_cpu,
    missing = function()
      return { lost { since = "2026-01-01" }, lost { experiment = "inference", since = "2026-01-01" } }
    end,
  }
  testing.equal(#again, 0)
  testing.equal(later.status, 0)
  testing.contains(later.files[".txt"], "not measured: gpu:0: 2 figures of it, missing since 2026-01-01\n")
  testing.contains(later.files[".prom"], 'gpubench_missing_values{suite="whole",host="h"} 2\n')
end)

local first_card, second_card = "GPU-11111111-2222-3333-4444-555555555555", "GPU-aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"

local function measured_on(card, slot)
  return function()
    return { { slot = slot, card = card, suite = "whole", host = "h", experiment = "matmul", axes = "",
      metric = "call_s",
      unit = "s", value = 1, reliable = true } }
  end
end

testing.case("lost, swapped and moved cards are named as that", function()
  local closed = {}
  local function close_card(_, card) closed[#closed + 1] = card end
  local _, swapped, lines = reported {
    latest = measured_on(second_card, "gpu:0"), close_card = close_card,
    cards = function() return { [first_card] = "gpu:0" } end,
    missing = function() return { lost { card = first_card } } end,
  }
  testing.equal(lines, { "no longer measured: gpu:0: the card was changed: GPU-11111111 is gone, GPU-aaaaaaaa is there "
    .. "now, which is new here; 1 figure of it (1)" })
  testing.equal(closed, { first_card })
  testing.contains(swapped.files[".txt"], "not measured: gpu:0: the card was changed")
  local _, moved, of_lost = reported {
    latest = measured_on(second_card, "gpu:0"), close_card = close_card,
    cards = function() return { [first_card] = "gpu:0", [second_card] = "gpu:1" } end,
    missing = function() return { lost { card = first_card } } end,
  }
  testing.contains(of_lost[1], "GPU-aaaaaaaa is there now, which was gpu:1; 1 figure")
  testing.contains(moved.files[".txt"], "the card GPU-aaaaaaaa moved from gpu:1 to gpu:0")
  local _, _, of_third = reported {
    latest = measured_on(second_card, "gpu:0"), close_card = close_card,
    missing = function() return { lost { card = first_card, slot = "gpu:1" } } end,
  }
  testing.equal(of_third, { "no longer measured: gpu:1 (GPU-11111111): 1 figure of it, which the last night with it "
    .. "had; nothing was measured on it now (1)" })
end)

testing.case("an experiment that the suite no longer has is not missed", function()
  local gone = {
    missing = function() return { lost { slot = "cpu:0", experiment = "matmul" } } end,
    latest = measured_on_cpu,
  }
  testing.contains(whole_night(gone).files[".txt"], "not measured: none\n")
  local left = whole_night(gone,
    'return { minutes = 1, scripts = { "batch_size", { "models", devices = { "gpu" } } } }')
  testing.contains(left.files[".txt"], "not measured: matmul")  -- the script that made no run may have it
end)

testing.case("a device that the suite does not name is not missed", function()
  local left = whole_night({ latest = measured_on_cpu, missing = function() return { lost {} } end },
    'return { minutes = 1, devices = { "cpu" }, scripts = { "batch_size" } }')
  testing.equal(left.status, 0)
  testing.contains(left.files[".txt"], "not measured: none\n")
end)
