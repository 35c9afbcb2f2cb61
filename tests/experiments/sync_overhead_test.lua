-- sync_overhead: its parts run by themselves; its claims hold on replicas that behave as they say, and are refuted by
-- others.
local gb = require "gpubench"
local experiments = require "declared"
local testing = require "testing"

local native = gb._native
native.keep_configuration()

local declaration = experiments.of "sync_overhead"
local latency, rate = 10e-6, 10e9

local function verdicts(rows) return experiments.verdicts(declaration, rows) end

-- Messages over a link with a latency and a rate; one replica that adds up for all takes `alone` times as long.
local function link(alone)
  return function(options)
    local rows, ranks = {}, #options.devices
    for index, bytes in ipairs(options.sizes) do
      local seconds = latency * (ranks - 1) + bytes * (2 * (ranks - 1) / ranks) / rate
      if options.cross_device == "reduction_to_one" then seconds = seconds * alone end
      rows[index] = {
        replicas = ranks, message_bytes = bytes, collective_time_s = seconds, wrong = 0, quality = "ok",
        collective_time_low_s = seconds * 0.99, collective_time_high_s = seconds * 1.01,
        bus_bytes_per_s = bytes / seconds, bus_bytes_low_per_s = bytes / seconds * 0.99,
        bus_bytes_high_per_s = bytes / seconds * 1.01,
      }
    end
    return rows
  end
end

-- A step of 10 ms, and what replicas need longer.
local function training(more)
  return function(model)
    local ranks = model == 1 and 1 or model
    local seconds = ranks == 1 and 0.01 or more
    return { replicas = ranks, step_time_s = seconds, step_time_low_s = seconds * 0.99,
      step_time_high_s = seconds * 1.01,
             exchange_bytes = 8e6, exchanges = 2, overlap_share = 0.5, quality = "ok" }
  end
end

-- Strategies that build nothing: a model is the number of its replicas.
local function strategy(options)
  return { scope = function() return #options.devices end }
end

local function rows_of_all(alone, more)
  local rows = {}
  experiments.with(gb.measure, { collective = link(alone), training = training(more) }, function()
    experiments.with(gb.distribute, { MirroredStrategy = strategy }, function()
      for _, point in ipairs {
        { part = "all_reduce", replicas = 2, cross_device = "automatic" },
        { part = "all_reduce", replicas = 2, cross_device = "reduction_to_one" },
        { part = "step", replicas = 2, cross_device = "automatic" },
      } do
        for _, row in ipairs(experiments.rows_of(declaration, point)) do
          testing.equal(row.status .. (row.detail or ""), "ok")
          rows[#rows + 1] = row
        end
      end
    end)
  end)
  return rows
end

-- 8 MB in two messages, half of it hidden.
local predicted = 0.01 + (2 * latency + 8e6 / rate) / 2

testing.case("claims hold where messages have a latency and a rate", function()
  local rows = rows_of_all(2, predicted)
  testing.equal(verdicts(rows),
    { "confirmed", "confirmed", "confirmed", "confirmed", "confirmed", "confirmed" })
  for _, row in ipairs(rows) do
    if row.part == "all_reduce" then testing.near(row.prediction_error_share, 0, 1e-6) end
    if row.modelled_replicas == 2 then testing.near(row.efficiency_share, 0.01 / predicted, 1e-6) end
    if row.source == "measured" then testing.near(row.prediction_error_share, 0, 1e-6) end
    if row.modelled_replicas == 4096 then testing.is_true(row.efficiency_share < 0.2, "latency of 8190 hops") end
  end
end)

testing.case("claims are refuted where they are wrong", function()
  local rows = rows_of_all(1, 2 * predicted)
  local found = verdicts(rows)
  testing.equal({ found[5], found[6] }, { "refuted", "refuted" })
  for _, row in ipairs(rows) do
    if row.message_bytes == 4096 then
      row.collective_time_s, row.collective_time_low_s, row.collective_time_high_s = 1, 1, 1
    end
    if row.part == "all_reduce" then
      row.bus_bytes_per_s, row.bus_bytes_low_per_s, row.bus_bytes_high_per_s = 1e9 / row.message_bytes, nil, nil
      row.wrong = 1
    end
  end
  found = verdicts(rows)
  testing.equal({ found[1], found[2], found[4] }, { "refuted", "refuted", "refuted" })
end)

testing.case("more replicas are predicted from two", function()
  experiments.with(gb.measure, { collective = link(1) }, function()
    local rows = experiments.rows_of(declaration, { part = "all_reduce", replicas = 4, cross_device = "automatic" })
    testing.equal(#rows, 10)
    for _, row in ipairs(rows) do
      testing.equal({ row.status, row.replicas }, { "ok", 4 })
      testing.near(row.prediction_error_share, 0, 1e-6)
    end
  end)
end)

testing.case("its own points run", function()
  local rows = experiments.rows_of(declaration,
    { part = "all_reduce", replicas = 2, cross_device = "reduction_to_one" })
  testing.equal(#rows, 10)
  for _, row in ipairs(rows) do
    testing.equal(row.status .. ": " .. row.detail, "ok: no shares: one collective is timed, not a step")
    testing.equal({ row.wrong, row.op }, { 0, "all_reduce" })
  end
  rows = experiments.rows_of(declaration, { part = "step", replicas = 2, cross_device = "automatic" })
  testing.equal(#rows, 13)  -- 2 to 4096, and the one that was measured
  testing.equal(rows[1].status .. (rows[1].detail or ""), "ok")
  testing.equal({ rows[13].source, rows[13].modelled_replicas, rows[1].step_time_s }, { "measured", 2, nil })
  testing.is_true(rows[13].step_time_s > 0 and rows[13].predicted_step_time_s == rows[1].predicted_step_time_s, "times")
  local skipped = experiments.rows_of(declaration, { part = "step", replicas = 2, cross_device = "reduction_to_one" })
  testing.equal({ #skipped, skipped[1].status }, { 1, "skipped" })
end)
