-- Measures one point: runs the script's function, turns whatever happens into rows, and proves that the point's device
-- memory is free again.
local gb = require "gpubench.native"
local doubts = require "gpubench.expect.doubts"
local emulated = require "gpubench.sweep.emulated"
local memoized = require "gpubench.sweep.memoized"
local processes = require "gpubench.sweep.processes"
local native = gb._native
local options = native.options
-- Those of the program, whatever a script does to its globals.
local seconds, set_seed, pcall = native.system.seconds, gb.config.set_seed, pcall

local measurement = {}

-- A run returns one row or an array of rows; a row's `samples` are its step times, its `timeline` what was traced, its
-- `profile` the time of layers and ops, its `stages` a pipeline's and its `ranks` the replicas', which are for the
-- script alone.
local function as_rows(result)
  if type(result) ~= "table" then
    native.fail("run must return a table of columns, as gb.measure.training does; it returned "
      .. (result == nil and "nothing" or "a " .. type(result)))
  end
  if type(result[1]) ~= "table" then return { result } end
  for index, row in ipairs(result) do
    if type(row) ~= "table" then
      native.fail(string.format("run returned a list whose element %d is a %s; each must be a table of columns", index,
        type(row)))
    end
  end
  return result
end

-- Why work ran on another device than the one that it was for: outside of points, as of models that the script has
-- made.
local fallbacks_outside, is_outside = {}, {}

-- Those of a point, with those outside.
local function fallbacks_of(inside)
  local all = { table.unpack(fallbacks_outside) }
  for _, text in ipairs(inside) do
    if not is_outside[text] then all[#all + 1] = text end
  end
  return all
end

local function keep_fallbacks_outside()
  for _, text in ipairs(native.take_fallbacks()) do
    if not is_outside[text] then fallbacks_outside[#fallbacks_outside + 1] = text end
    is_outside[text] = true
  end
end

-- A row of another device than its point names tells nothing about that device.
local function mark_fallbacks(row, fallbacks, measured_on)
  if not fallbacks[1] then return end
  row.detail = table.concat(fallbacks, "; ")
  if measured_on and row.device ~= measured_on then
    doubts.put(row, "quality", doubts.of("other_device", row.detail))
  end
end

-- Beside its cells, a row has what goes into files of its own, and what is for the script alone.
local function complete(row, axes, point, fallbacks)
  local copy = {}
  for column, value in pairs(row) do copy[column] = value end
  local measured_on = copy.device
  for _, axis in ipairs(axes) do copy[axis.name] = point[axis.name] end
  mark_fallbacks(copy, fallbacks or {}, measured_on)
  local one = { row = copy, samples = copy.samples, timeline = copy.timeline, profile = copy.profile }
  copy.samples, copy.timeline, copy.profile, copy.stages, copy.ranks = nil, nil, nil, nil, nil
  emulated.label(copy)
  return one
end

local function kept_memory(before)
  native.protect(native.collect_garbage)  -- finalizers are the script's code
  for device, bytes in pairs(native.memory_in_use()) do
    local kept = bytes - (before[device] or 0)
    if kept > 0 then
      return string.format("%s of %s still in use after the point: something outside run keeps its tensors",
        gb.format.bytes(kept), device)
    end
  end
end

-- own: the values of the axes. given: the point for the script, which may change it.
local function run_point(experiment, axes, own, given)
  local reason = experiment.skip and experiment.skip(given)
  if reason then gb.skip(tostring(reason)) end
  local finished = {}
  keep_fallbacks_outside()
  local rows = as_rows(experiment.run(given))
  local fallbacks = fallbacks_of(native.take_fallbacks())
  for index, row in ipairs(rows) do finished[index] = complete(row, axes, own, fallbacks) end
  return native.results.call(finished, own)
end

-- As they were at the declaration, unless something that still lives uses them.
function measurement.reset_devices(in_use)
  if next(in_use) == nil then native.reset_devices() end
end

-- Why a sweep ends with its point: the user stopped it, this process can use a device no more, or another process of
-- the run is gone.
local ends_sweep = { interrupted = true, device_lost = true, group_lost = true }

-- What is known of a point before it is measured.
function measurement.first_columns(axes, point, index)
  local row = { point = index }
  for _, axis in ipairs(axes) do row[axis.name] = point[axis.name] end
  return row
end

-- Between rounds: as long as a point is measured, at most.
function measurement.wait_until_calm()
  return (native.contention.wait_idle(options.budget_s))
end

-- One call of run, with its own seed: { call = the rows of all processes (core/run/point_call.h), nil if the user
-- stopped it, stopped = why the sweep ends with it, traceback = that of an error, seconds = what another call would
-- take }.
function measurement.measure(experiment, axes, point, seed)
  local before, started, made_s = native.memory_in_use(), seconds(), memoized.seconds
  local own = {}
  for _, axis in ipairs(axes) do own[axis.name] = point[axis.name] end
  measurement.reset_devices(before)
  set_seed(seed)
  local is_watched, taken, ok, call, detail, traceback, memory_of =
    pcall(native.contention.during, native.protect, run_point, experiment, axes, own, point)
  if not is_watched then taken, ok, call, detail = {}, false, "error", tostring(taken) end
  local status = ok and "ok" or call
  if not ok then
    local is_loss = ends_sweep[status] or status == "peer_lost"
    local shown = { status = is_loss and "error" or status, detail = detail }
    if memory_of ~= "" then shown.memory_of = memory_of end
    call = native.results.call({ complete(shown, axes, own) }, own)
  end
  call:set_conditions(taken.lost_share, taken.clock_hz, kept_memory(before))
  local common = processes.agree(call, status, not ok and detail or nil)
  if common == "interrupted" then return { stopped = common } end
  return {
    call = call, stopped = ends_sweep[common] and common or nil, traceback = traceback,
    seconds = seconds() - started - (memoized.seconds - made_s),
  }
end

return measurement
