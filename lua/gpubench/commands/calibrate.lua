-- `gpubench calibrate SCRIPT`: measures the script in fresh processes and stores what the noise of this machine allows.
local gb = require "gpubench.native"
local check = require "gpubench.check"
local fresh_processes = require "gpubench.fresh_processes"
local native = gb._native

local usual_count = 20

local shown = { "experiment", "figure", "processes", "noise_share", "false_alarms_share",
  "found_of_1_percent_share", "found_of_2_percent_share", "found_of_5_percent_share", "sees_from_share" }

-- Returns the group of the runs.
local function measure(words, count)
  local group = native.compare.new_group()
  for process = 1, count do
    io.stderr:write(string.format("process %d of %d\n", process, count))
    local status = fresh_processes.run {
      arguments = words, group = group, process = process, processes = count, silent = true,
    }
    if fresh_processes.status_of(status) > 1 then
      check.fail("calibrate: process %d ended with status %d; the reason stands above", process, status)
    end
  end
  return group
end

return function(options)
  local words = fresh_processes.words(options.words or {})
  if (#words == 0) == (options.from == nil) then
    check.fail("calibrate: either a script is needed or --from SIDE: gpubench calibrate SCRIPT [-- OPTION...]")
  end
  local side = options.from or measure(words, options["repeat"] or usual_count)
  local result = native.compare.calibrate(side, options.figure or {}, native.options.out)
  print(native.results.one_line(result.machine))
  io.write(native.results.table(result.rows, shown))
  print("stored: " .. result.file:gsub("^%./", ""))
  return 0
end
