-- One row of the rounds of a point.
local merge = require "gpubench.sweep.merge"
local testing = require "testing"

local function calls_of(rounds)
  local calls = {}
  for index, row in ipairs(rounds) do calls[index] = { rows = { { row = row } } } end
  return calls
end

testing.case("the shares of a step sum to 1 although each is a median", function()
  local rounds = {}
  for index, compute in ipairs { 0.9, 0.9, 0.9, 0.2, 0.2, 0.2, 0.6 } do
    rounds[index] = {
      quality = "ok", compute_share = compute, host_share = index % 2 == 0 and 1 - compute or 0,
      launch_share = index % 2 == 1 and 1 - compute or 0, other_share = 0,
    }
  end
  local row = merge.rows(calls_of(rounds), 7, {}, { compute_share = true })[1].row
  testing.is_true(math.abs(row.compute_share + row.host_share + row.launch_share + row.other_share - 1) < 1e-9)
  testing.is_true(row.compute_low_share <= row.compute_share and row.compute_share <= row.compute_high_share)
end)

testing.case("every class of a step is part of that sum", function()
  local columns = require("gpubench.native")._native.results.step_classes()
  testing.is_true(#columns > 6)
  local rounds = {}
  for index = 1, 7 do
    local row, left = { quality = "ok" }, 1.0
    for place, name in ipairs(columns) do
      row[name] = place == #columns and left or left * ((index * 37 + place * 61) % 10) / 20
      left = left - row[name]
    end
    rounds[index] = row
  end
  local row, sum = merge.rows(calls_of(rounds), 7, {}, {})[1].row, 0
  for name, value in pairs(row) do
    if name:find "_share$" and not name:find "_low_" and not name:find "_high_" then sum = sum + value end
  end
  testing.near(sum, 1, 1e-9)
end)

testing.case("the device is never less busy than its kernels take", function()
  local rounds = {}
  for index, compute in ipairs { 0.9, 0.85, 0.8, 0.4, 0.3, 0.35, 0.6 } do
    rounds[index] = {
      quality = "ok", compute_share = compute, communication_share = 0.05, device_busy = compute + 0.05,
      host_share = index % 2 == 0 and 0.95 - compute or 0, launch_share = index % 2 == 1 and 0.95 - compute or 0,
      other_share = 0,
    }
  end
  local row = merge.rows(calls_of(rounds), 7, {}, { compute_share = true, device_busy = true })[1].row
  testing.is_true(row.compute_share ~= 0.6, "the shares were divided by their sum")
  testing.near(row.device_busy, row.compute_share + row.communication_share, 1e-9)
  testing.is_true(row.device_busy <= 1)
end)

testing.case("a share alone stays as it was measured", function()
  local rounds = {}
  for index = 1, 7 do rounds[index] = { quality = "ok", input_wait_share = index / 10 } end
  testing.equal(merge.rows(calls_of(rounds), 7, {}, {})[1].row.input_wait_share, 0.4)
end)

testing.case("a figure that is no number in one round is none of the row, which says so", function()
  for _, value in ipairs { 0 / 0, math.huge } do
    local rounds = {}
    for index = 1, 7 do
      rounds[index] = { quality = "ok", status = "ok", loss = index == 5 and value or 0.5, step_time_s = 1.0 }
    end
    local row = merge.rows(calls_of(rounds), 7, {}, { loss = true })[1].row
    testing.is_true(row.loss ~= row.loss or row.loss == math.huge)
    testing.contains(row.detail, value ~= value and "loss is NaN" or "loss is infinite")
    testing.equal(row.step_time_s, 1.0)
  end
end)
