-- The exit status that an experiment gives to the program, and the reasons for it (docs/runs.md).
local gb = require "gpubench.native"
local doubts = require "gpubench.expect.doubts"
local missing_gpus = require "gpubench.missing_gpus"
local sweep = require "gpubench.sweep.points"
local native = gb._native
local count_of, not_numbers = gb.format.count, native.results.not_numbers

local exit_status = {}

-- The most important first: a row with an error may hide a claim that is refuted.
local by_importance = { 2, 3, 1, 0 }

-- The status of the program after experiments with both.
function exit_status.worse(one, other)
  for _, status in ipairs(by_importance) do
    if one == status or other == status then return status end
  end
end

local remedies = {
  skipped = "run it where the script does not skip them",
  out_of_memory = "use a device with more memory, or smaller points",
  timeout = "give more time with --timeout",
}

local function rows_with(rows, holds)
  local list = {}
  for _, row in ipairs(rows) do
    if holds(row) then list[#list + 1] = row end
  end
  return list
end

local function has_status(status)
  return function(row) return row.status == status end
end

local function is_ok(row)
  return row.status == "ok"
end

local function is_unreliable(row)
  return doubts.in_row(row, "quality") ~= nil
end

local function fails(row)
  return row.status ~= "ok" and row.status ~= "skipped"
end

-- " (the first at n=2: not done after 1 s)"; without `detail`, a column, " (the first at n=2)".
local function first_of(rows, axes, detail)
  local parts = {}
  if #axes > 0 then parts[1] = "the first at " .. sweep.describe(axes, rows[1]) end
  if detail then parts[#parts + 1] = rows[1][detail] end
  return #parts > 0 and " (" .. table.concat(parts, ": ") .. ")" or ""
end

local function nothing_measured(rows, axes)
  local parts = {}
  for _, status in ipairs { "skipped", "out_of_memory", "timeout" } do
    local list = rows_with(rows, has_status(status))
    if #list > 0 then
      parts[#parts + 1] = string.format("%s %s%s; %s", count_of(#list, "row"), status, first_of(list, axes, "detail"),
        remedies[status])
    end
  end
  return "no point was measured: " .. table.concat(parts, ". ")
end

-- Why figures of measured rows are no numbers; nil where all are.
local function lost_figures(rows, axes)
  local list = rows_with(rows, function(row) return is_ok(row) and not_numbers(row) ~= nil end)
  if #list == 0 then return nil end
  local where = #axes > 0 and string.format(" (the first at %s)", sweep.describe(axes, list[1])) or ""
  return string.format("%s of %d with figures that are no numbers%s: %s", count_of(#list, "row"), #rows, where,
    not_numbers(list[1]))
end

-- Each gets rows, at least one of which was measured, and the axes, and says why it does not hold.
local requirements = {}

function requirements.ok(rows, axes)
  local list = rows_with(rows, fails)
  if #list == 0 then return lost_figures(rows, axes) end
  return string.format("%s of %d not ok%s; %s", count_of(#list, "row"), #rows, first_of(list, axes),
    remedies[list[1].status] or "mend what it names")
end

function requirements.reliable(rows, axes)
  local failed = requirements.ok(rows, axes)
  if failed then return failed end
  local measured = rows_with(rows, is_ok)
  local list = rows_with(measured, is_unreliable)
  if #list == 0 then return nil end
  local remedy = doubts.remedy(doubts.in_row(list[1], "quality"))
  return string.format("%s of %d not reliable%s%s", count_of(#list, "row"), #measured, first_of(list, axes, "quality"),
    remedy and "; " .. remedy or "")
end

-- A row of several devices names them all: "gpu:0+cpu:0".
local function ran_on(row, device)
  for one in tostring(row.device or ""):gmatch "[^%s+]+" do
    if one == device then return true end
  end
  return false
end

function requirements.device(rows, _, device)
  for _, row in ipairs(rows) do
    if is_ok(row) and ran_on(row, device) then return nil end
  end
  return string.format("no row with status ok has the device %s; measure on it with --device %s or --set device=%s",
    device, device, device)
end

local function parts_of(requirement)
  return requirement:match "^(%w+)=?(.*)$"
end

local function unmet(requirement, rows, axes)
  local kind, value = parts_of(requirement)
  return requirements[kind](rows, axes, value)
end

local function can_use(name)
  local is_name, usable = native.protect(native.can_use, name)
  return is_name and usable
end

-- Why a device that is required is not there, before anything is measured in vain; nil where all are.
function exit_status.missing_device(required)
  for _, requirement in ipairs(required) do
    local kind, name = parts_of(requirement)
    if kind == "device" and not can_use(name) then
      local reasons = name:find "^gpu" and missing_gpus() or {}
      table.insert(reasons, 1, string.format("--require %s: there is no %s (devices: %s)", requirement, name,
        table.concat(gb.devices(), ", ")))
      return table.concat(reasons, "; ")
    end
  end
end

local function refuted(verdicts)
  return rows_with(verdicts, function(one) return one.verdict == "refuted" end)
end

-- For each reason { status = , text = }. options: `strict`, and `require`, an array of "ok", "reliable", "device=NAME".
function exit_status.reasons(rows, axes, verdicts, options)
  local list = {}
  local function add(status, ...)
    list[#list + 1] = { status = status, text = string.format(...) }
  end
  local errors = rows_with(rows, has_status "error")
  if #errors > 0 then
    add(2, "%s of %d with status error%s; mend it, or leave such points out with --set",
      count_of(#errors, "row"), #rows,
      first_of(errors, axes))
  end
  if #rows_with(rows, is_ok) > 0 then
    for _, requirement in ipairs(options.require) do
      local reason = unmet(requirement, rows, axes)
      if reason then add(3, "--require %s does not hold: %s", requirement, reason) end
    end
  elseif #errors == 0 then
    add(3, "%s", nothing_measured(rows, axes))
  end
  local lost = options.strict and lost_figures(rows, axes)
  if lost then add(1, "%s; see the report, or run without --strict", lost) end
  local claims = refuted(verdicts)
  if options.strict and #claims > 0 then
    add(1, "%s of %d refuted (%s); see the report, or run without --strict", count_of(#claims, "claim"), #verdicts,
      claims[1].claim)
  end
  return list
end

return exit_status
