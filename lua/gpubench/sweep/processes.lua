-- What the processes of a run make of a point together: one status for all, and the rows of each. A process of its own
-- pays nothing for it.
local gb = require "gpubench.native"
local native = gb._native

local processes = { count = gb.distribute.num_processes(), index = gb.distribute.process_index() }

-- call and status: as measurement.measure has them of this process. The call has the rows of all processes then.
-- Returns why the sweep cannot go on.
function processes.agree(call, status, detail)
  if processes.count == 1 or status == "group_lost" then return status end
  local ok, common, reason = native.protect(call.agree, call, status, detail)
  if ok then return common end
  call:fail("error", reason)
  return common == "interrupted" and common or "group_lost"
end

-- To be closed in the other processes: a process 0 that is lost cannot say in its run's files that it has ended.
function processes.end_of_run(directory)
  return setmetatable({}, { __close = function()
    if native.processes.reports_for_all() then native.results.end_abandoned(directory, native.processes.lost()) end
  end })
end

-- "2 processes: process 0 (vm, pid 12) with 1 thread, ..."; a collective call.
function processes.describe()
  local parts, threads = {}, native.processes.threads()
  for rank, name in ipairs(native.processes.names()) do
    parts[rank] = name .. " with " .. gb.format.count(math.tointeger(tonumber(threads[rank])), "thread")
  end
  return parts
end

return processes
