-- What the processes of a run make of a point together: one status for all, and the rows of each. A process of its own
-- pays nothing for it.
local gb = require "gpubench.native"
local native = gb._native

local processes = { count = gb.distribute.num_processes(), index = gb.distribute.process_index() }

-- The first that is there decides. A process that was stopped because of another ("peer_lost") does not.
local causes = { "interrupted", "device_lost", "out_of_memory", "timeout", "error", "skipped", "peer_lost" }

-- The rank whose outcome is the reason for all of theirs; nil where all are well.
local function cause_of(outcomes)
  for _, status in ipairs(causes) do
    for rank, outcome in ipairs(outcomes) do
      if outcome.status == status then return rank end
    end
  end
end

local function all_alike(outcomes)
  for _, outcome in ipairs(outcomes) do
    if outcome.status ~= outcomes[1].status or outcome.detail ~= outcomes[1].detail then return false end
  end
  return true
end

local function named(rank, outcomes)
  local cause = outcomes[rank]
  if all_alike(outcomes) or not cause.detail then return cause.detail end
  return native.processes.names()[rank] .. ": " .. cause.detail
end

-- A row of a failed point has its axes, and nothing that was measured.
local function failed(one, axes, status, detail)
  local row = { status = status, detail = detail, process = one.row.process }
  for _, axis in ipairs(axes) do row[axis.name] = one.row[axis.name] end
  return { row = row }
end

local function collect(outcomes, mine)
  local all = {}
  for rank, outcome in ipairs(outcomes) do
    local own = rank == processes.index + 1
    for _, one in ipairs(own and mine or outcome.rows or {}) do
      one.row.process = rank - 1
      all[#all + 1] = one
    end
  end
  return all
end

local function plain(rows)
  local list = {}
  for index, one in ipairs(rows) do list[index] = { row = one.row, samples = one.samples } end
  return list
end

-- rows and status: as measurement.measure has them of this process. Returns those of all, and why the sweep cannot go
-- on.
function processes.agree(rows, axes, status, detail)
  if processes.count == 1 or status == "group_lost" then return rows, status end
  local failure = status ~= "ok" and (detail or status) or nil
  local ok, outcomes, reason = native.protect(native.processes.conclude,
    { status = status, detail = detail, rows = plain(rows) }, failure)
  if not ok then
    for index, one in ipairs(rows) do rows[index] = failed(one, axes, "error", reason) end
    return rows, outcomes == "interrupted" and outcomes or "group_lost"
  end
  local all, cause = collect(outcomes, rows), cause_of(outcomes)
  if not cause then return all, "ok" end
  local common = outcomes[cause].status
  local shown = (common == "device_lost" or common == "peer_lost") and "error" or common
  for index, one in ipairs(all) do all[index] = failed(one, axes, shown, named(cause, outcomes)) end
  return all, common
end

-- In place of a run that writes files: of the others than process 0, which keep the rows for the script.
local Silent = {}
Silent.__index = Silent

function processes.silent_run(name, directory)
  return setmetatable({ name = name, directory = directory, list = {} }, Silent)
end
-- A process 0 that is lost cannot say in its run's files that it has ended.
function Silent:__close()
  if native.processes.reports_for_all() then native.results.end_abandoned(self.directory, native.processes.lost()) end
end
function Silent:begin() end
function Silent:add(row)
  row.experiment = self.name
  self.list[#self.list + 1] = row
end
function Silent:add_round() end
function Silent:verdict(row) return row.verdict end
function Silent:replace(rows)
  local replaced = {}
  for _, row in ipairs(rows) do replaced[row.point] = true end
  local kept = {}
  for _, row in ipairs(self.list) do
    if not replaced[row.point] then kept[#kept + 1] = row end
  end
  self.list = kept
  for _, row in ipairs(rows) do self:add(row) end
end
function Silent:rows()
  return self.list
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
