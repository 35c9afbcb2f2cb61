-- One row of the rounds of a point: the median of each figure, with the interval that the rounds give it.
local check = require "gpubench.check"
local columns = require "gpubench.columns"
local order_interval = require "gpubench.order_interval"
local results = require("gpubench.native")._native.results

local merge = {}

local function ends_of(row)
  local ends = {}
  for name in pairs(row) do
    ends[results.interval_end(name, "low")], ends[results.interval_end(name, "high")] = true, true
  end
  return ends
end

local function sum(values)
  local total = 0
  for _, value in ipairs(values) do total = total + value end
  return total
end

local function numbers_of(rows, name)
  local values = {}
  for _, row in ipairs(rows) do
    if type(row[name]) == "number" and row[name] == row[name] then values[#values + 1] = row[name] end
  end
  return values
end

local function put_figure(row, name, values, has_interval)
  row[name] = order_interval.median(values)
  local low, high = results.interval_end(name, "low"), results.interval_end(name, "high")
  local one = order_interval.of(values)
  row[low], row[high] = nil, nil
  if one and has_interval then row[low], row[high] = one.low, one.high end
end

-- rows: those that count, at least one. has_interval[name]: columns that get an interval though no row has one.
local function of(rows, has_interval)
  local merged = {}
  for name, value in pairs(rows[1]) do merged[name] = value end
  if #rows == 1 then return merged end
  local ends = ends_of(rows[1])
  for _, name in ipairs(check.sorted_keys(rows[1])) do
    local values, kind = numbers_of(rows, name), columns.of(name).kind
    if #values > 0 and kind == "extent" then
      merged[name] = sum(values)
    elseif #values > 0 and kind ~= "setting" and not ends[name] then
      put_figure(merged, name, values, has_interval[name] or rows[1][results.interval_end(name, "low")] ~= nil)
    end
  end
  return merged
end

local function reason_of(call, row)
  if call.disturbed then return call.disturbed end
  local quality = row.quality
  return quality and quality ~= "ok" and (quality:gsub("^unreliable: ", "")) or nil
end

-- calls: by round, { rows = { { row, samples, timeline }, ... }, disturbed = why the round does not count }, each with as
-- many rows. Returns the merged { row, samples, timeline } of each (the latter two of the first round), and by row the
-- rounds that count, with holes.
function merge.rows(calls, planned, has_interval)
  local merged, counted = {}, {}
  for index, first in ipairs(calls[1].rows) do
    local clean, all, why, at = {}, {}, nil, {}
    for round, call in ipairs(calls) do
      local one = call.rows[index]
      local reason = reason_of(call, one.row)
      all[#all + 1] = one.row
      if reason then why = why or reason else clean[#clean + 1], at[round] = one.row, one.row end
    end
    local enough = #clean >= order_interval.least_count
    local row = of(#clean > 0 and clean or all, has_interval)
    row.rounds = #clean
    if planned > 1 and not enough then
      row.quality = string.format("unreliable: %d of %d rounds count, %d are needed%s", #clean, #calls,
        order_interval.least_count, why and ": " .. why or "")
    end
    if planned == 1 and why and (row.quality or "ok") == "ok" then row.quality = "unreliable: " .. why end
    merged[index] = { row = row, samples = first.samples, timeline = first.timeline }
    counted[index] = enough and at or nil
  end
  return merged, counted
end

return merge
