-- The suites that come with the program, and what a night writes.
local changes = require "gpubench.reported_changes"
local night_files = require "gpubench.night_files"
local suites = require "gpubench.suite"
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

local change = {
  id = 3, experiment = "matmul", metric = "step_time_s", change = "takes 4.1 % more time", run = "r", slot = "gpu:0", host = "h",
  axes = "n=1", cause = "unknown", state = "open",
}

local function night(fields)
  local one = {
    suite = "s", host = "h", devices = { "gpu:0" }, jobs = 2, done = 2, seconds = 60, latest = {}, reliable = 0, new = {},
    better = {}, open = {}, recovered = {}, left_out = {}, status = 0, alarms = {}, missing_values = 0, still_refuted = {},
    unmarked = {},
  }
  for name, value in pairs(fields) do one[name] = value end
  for index, regression in ipairs(one.new) do one.alarms[index] = changes.line(regression) end
  one.not_measured = one.left_out
  return one
end

testing.case("a summary has five lines, whatever the texts are", function()
  local text = night_files.summary(night { new = { change, change, change }, open = { { id = 1 } }, recovered = { { id = 2 } },
                                           left_out = { "a\nb\27[31m" } })
  local _, lines = text:gsub("\n", "")
  testing.equal(lines, 5)
  testing.contains(text, "s on h: 3 alarms\n")
  testing.contains(text, "#3 matmul step_time_s takes 4.1 % more time since r on gpu:0 of h, n=1; cause: unknown; and 2 more\n")
  testing.contains(text, "still open: #1; recovered: #2\n")
  testing.is_true(not text:find "\27", "no control characters")
  testing.contains(night_files.summary(night {}), "new: none\nstill open: none; recovered: none\nnot measured: none\n")
  testing.contains(night_files.summary(night { waiting = true }), "new: not judged")
end)

testing.case("a night that lacks figures or refutes claims says so in its five lines", function()
  local text = night_files.summary(night { alarms = { "no longer measured: e", "refuted: c" }, still_refuted = { "d" },
                                           left_out = { "e: nothing measured" } })
  testing.contains(text, "s on h: 2 alarms\n")
  testing.contains(text, "new: no longer measured: e; and 1 more\n")
  testing.contains(text, "still open: none; recovered: none; still refuted: d\nnot measured: e: nothing measured\n")
end)

testing.case("metrics have a label set once", function()
  local value = { suite = "s", host = "h", slot = "cpu:0", experiment = "e", axes = "", metric = "m_s", unit = "s", value = 1,
                  reliable = true }
  local text = night_files.metrics(night { latest = { value, value }, reliable = 2 })
  local _, count = text:gsub("gpubench_value{", "")
  testing.equal(count, 1)
end)

testing.case("metrics are valid, whatever the labels are", function()
  local value = { suite = "s", host = 'a"b\\c\nd', slot = "cpu:0", experiment = "e", axes = "n=1", metric = "m_s", unit = "s",
                  value = 0.1, reliable = true }
  local doubtful = { suite = "s", host = "h", slot = "", experiment = "e", axes = "", metric = "other_s", unit = "s", value = 1 }
  local text = night_files.metrics(night { latest = { value, doubtful }, reliable = 1, new = { change }, open = { { id = 1 } } })
  testing.contains(text, [[host="a\"b\\c\nd"]])
  testing.contains(text, "} 0.10000000000000001\n")
  testing.is_true(not text:find "other_s", "an unreliable value")
  testing.contains(text, 'gpubench_open_alarms{suite="s",host="h"} 2\n')
  testing.equal(text:sub(-6), "# EOF\n")
  for line in text:gmatch "[^\n]+" do
    testing.is_true(line:find "^# %u+" or line:find '^[%w_]+{.*} [%d.e+-]+$', line)
  end
end)
