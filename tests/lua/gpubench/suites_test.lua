-- The suites that come with the program, and what a night writes.
local changes = require "gpubench.night.reported_changes"
local night_files = require "gpubench.night.files"
local suites = require "gpubench.night.suite"
local testing = require "testing"

testing.case("the suites that come with the program can be run", function()
  testing.equal(table.concat(suites.names(), " "), "hardware nightly quick")
  for name, minutes in pairs { quick = 3, nightly = 30, hardware = 10 } do
    local suite = suites.read(name)
    testing.equal(suite.name, name)
    testing.is_true(suite.minutes <= minutes, name .. " ends in time")
    for _, script in ipairs(suite.scripts) do
      local file <close> = assert(io.open(script.path))
      testing.is_true(file:read("a"):find "gb%.experiment", script.path .. " declares an experiment")
    end
  end
end)

testing.case("devices are wanted by name and by kind", function()
  testing.is_true(suites.wants(nil, "cpu:0"))
  testing.is_true(suites.wants({ "gpu" }, "gpu:3"))
  testing.is_true(suites.wants({ "gpu:3" }, "gpu:3"))
  testing.is_true(not suites.wants({ "gpu:3" }, "gpu:30"))
  testing.is_true(not suites.wants({ "gpu" }, "cpu:0"))
end)

-- News of the night n2, if nothing else is said.
local function news(fields)
  return setmetatable(fields,
    { __index = { id = "a1b2c3d4", kind = "regression", night = "n2", is_alarm = true, line = "it is slow" } })
end

local function night(fields)
  local one = {
    suite = "s", host = "h", id = "n2", devices = { "gpu:0" }, jobs = 2, done = 2, seconds = 60,
    latest = {}, reliable = 1,
    better = {}, open = {}, recovered = {}, left_out = {}, status = 0, alarms = {}, missing_values = 0,
    still_refuted = {},
    unmarked = {}, notes = {},
  }
  for name, value in pairs(fields) do one[name] = value end
  one.not_measured = one.left_out
  return one
end

testing.case("a summary has five lines, whatever the texts are", function()
  local text = night_files.summary(night {
    alarms = { news {}, news { id = "b1b2c3d4" }, news { id = "c1b2c3d4" } }, open = { { alarm = "d1b2c3d4" } },
    recovered = { news { kind = "recovered", line = "#e1b2c3d4: as before" } }, left_out = { "a\nb\27[31m" } })
  local _, lines = text:gsub("\n", "")
  testing.equal(lines, 5)
  testing.contains(text, "s on h, night n2: 3 new alarms, 1 open\n")
  testing.contains(text, "new: #a1b2c3d4 it is slow; and 2 more\n")
  testing.contains(text, "still open: #d1b2c3d4; recovered: #e1b2c3d4: as before\n")
  testing.is_true(not text:find "\27", "no control characters")
  testing.contains(night_files.summary(night {}), "new: none\nstill open: none; recovered: none\nnot measured: none\n")
  testing.contains(night_files.summary(night { waiting = true }), "new: not judged")
end)

testing.case("the headline says what could not be judged", function()
  testing.contains(night_files.summary(night { reliable = 0 }),
    "s on h, night n2: nothing could be judged, no new alarm\n")
  testing.contains(night_files.summary(night { waiting = true }), "s on h, night n2: not judged\n")
  testing.contains(night_files.unfinished(night {}, "it goes on"), "s on h, night n2: it goes on\n")
end)

testing.case("what an earlier night found is told again", function()
  testing.contains(night_files.summary(night { alarms = { news { night = "n1" } } }),
    "new: #a1b2c3d4 again (found by the night n1): it is slow\n")
end)

testing.case("a night that lacks figures or refutes claims says so in its five lines", function()
  local text = night_files.summary(night {
    alarms = { news { kind = "missing", line = "no longer measured: e" }, news { kind = "refuted", line = "c" } },
    still_refuted = { "d" }, left_out = { "e: nothing measured" } })
  testing.contains(text, "s on h, night n2: 2 new alarms\n")
  testing.contains(text, "new: #a1b2c3d4 no longer measured: e; and 1 more\n")
  testing.contains(text, "still open: none; recovered: none; still refuted: d\nnot measured: e: nothing measured\n")
end)

testing.case("one alarm is one line, however many changes it has", function()
  local function change(fields)
    return setmetatable(fields,
      { __index = { alarm = "a1b2c3d4", experiment = "matmul", metric = "step_time_s", axes = "n=1",
      change = "takes 4.1 % more time", started = "2026-03-01T02:00:00Z", slot = "gpu:0", host = "h",
        cause = "unknown" } })
  end
  local groups = changes.by_alarm { change {}, change { metric = "rate" }, change { alarm = "b1b2c3d4", axes = "" } }
  testing.equal(#groups, 2)
  testing.equal(groups[1].line, "#a1b2c3d4 matmul step_time_s of n=1 on gpu:0 of h: takes 4.1 % more time, and 1 more "
    .. "since 2026-03-01; cause: unknown")
  testing.equal(groups[2].line,
    "#b1b2c3d4 matmul step_time_s on gpu:0 of h: takes 4.1 % more time since 2026-03-01; cause: unknown")
end)

testing.case("metrics have a label set once", function()
  local value = { suite = "s", host = "h", slot = "cpu:0", experiment = "e", axes = "", metric = "m_s",
    unit = "s", value = 1,
                  reliable = true }
  local text = night_files.metrics(night { latest = { value, value }, reliable = 2 })
  local _, count = text:gsub("gpubench_value{", "")
  testing.equal(count, 1)
end)

testing.case("metrics are valid, whatever the labels are", function()
  local value = { suite = "s", host = 'a"b\\c\nd', slot = "cpu:0", experiment = "e", axes = "n=1",
    metric = "m_s", unit = "s",
                  value = 0.1, reliable = true }
  local doubtful = { suite = "s", host = "h", slot = "", experiment = "e", axes = "", metric = "other_s",
    unit = "s", value = 1 }
  local text = night_files.metrics(night { latest = { value, doubtful }, reliable = 1, alarms = { news {} },
    open = { { alarm = "d1b2c3d4" } } })
  testing.contains(text, [[host="a\"b\\c\nd"]])
  testing.contains(text, "} 0.10000000000000001\n")
  testing.is_true(not text:find "other_s", "an unreliable value")
  testing.contains(text, 'gpubench_open_alarms{suite="s",host="h"} 2\n')
  testing.equal(text:sub(-6), "# EOF\n")
  for line in text:gmatch "[^\n]+" do
    testing.is_true(line:find "^# %u+" or line:find '^[%w_]+{.*} [%d.e+-]+$', line)
  end
end)
