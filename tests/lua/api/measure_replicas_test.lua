-- What rows say of replicas: exchanges, waits and the slowest, of trainings and of loops written by hand.
local gb = require "gpubench"
local replicas = require "digit_replicas"
local testing = require "testing"
local case, equal, near, is_true, raises = testing.case, testing.equal, testing.near, testing.is_true, testing.raises
local contains = testing.contains

local kind, build, strategy_of = replicas.kind, replicas.build, replicas.strategy_of
local digits = gb.datasets.mnist "train"

case("rows tell what replicas spend on each other", function()
  local strategy = strategy_of(2)
  local row = gb.measure.training(strategy:scope(build), digits:batch(64), { budget = 0.2, warmup = 0.05 })
  equal({ row.replicas, row.device, row.batch_size }, { 2, kind .. "0 " .. kind .. "1", 64 })
  is_true(row.exchanges == 1, "exchanges")
  -- 784 x 16 + 16 + 16 x 10 + 10 gradients, and two sums and counts
  is_true(row.exchange_bytes == (784 * 16 + 16 + 160 + 10 + 4) * 4, "bytes")
  local shares = { "communication_share", "peer_wait_share", "overlap_share", "last_rank_share" }
  equal(#row.ranks, 2)
  if kind == "gpu:" then  -- a trace of GPUs tells them, and here is none
    for _, column in ipairs(shares) do equal(row[column], nil) end
    contains(row.detail, "no shares but the input's: ")
    equal(row.ranks, { { device = "gpu:0" }, { device = "gpu:1" } })
    raises("own_s of rank 0 is missing; where the times of replicas are not known, the row's detail says why",
      gb.distribute.balanced_shares, row.ranks)
    return
  end
  for _, column in ipairs(shares) do is_true(row[column] >= 0 and row[column] <= 1, column) end
  is_true(row.imbalance >= 0 and (row.last_rank == 0 or row.last_rank == 1), "imbalance")
  equal(row.detail, nil)
end)

-- A step of one update, and what it runs.
local function by_hand(strategy)
  local model = strategy:scope(build)
  local step = replicas.step_of(model, gb.optimizers.SGD { learning_rate = 0.1 })
  return function(images, labels) return strategy:reduce("mean", strategy:run(step, images, labels)) end
end

case("rows of loops written by hand tell it too", function()
  local input, options = digits:batch(64), { budget = 0.2, min_time = 0.05, warmup = 0.05 }
  local row = gb.measure.loop(by_hand(strategy_of(2)), input, options)
  equal({ row.replicas, row.device, row.batch_size }, { 2, kind .. "0 " .. kind .. "1", 64 })
  equal({ row.exchanges, row.exchange_bytes }, { 1.0, (784 * 16 + 16 + 160 + 10) * 4.0 })
  equal(#row.ranks, 2)
  if kind == "cpu:" then
    equal(row.detail, nil)
    for _, column in ipairs { "communication_share", "peer_wait_share", "overlap_share", "last_rank_share" } do
      is_true(row[column] >= 0 and row[column] <= 1, column)
    end
    for _, rank in ipairs(row.ranks) do is_true(rank.own_s > 0 and rank.exchange_s > 0, rank.device) end
  end
  local one = gb.measure.loop(by_hand(strategy_of(1)), input, options)
  equal({ one.replicas, one.device, one.peer_wait_share, one.communication_share }, { 1, kind .. "0", 0.0, 0.0 })
  gb.measure.efficiency(row, { gb.measure.loop(by_hand(strategy_of(1)), digits:batch(32), options) }, "weak")
  is_true(row.weak_efficiency > 0, "efficiency")
  local none = gb.measure.loop(function(images) return images:sum() end, input, options)
  equal({ none.replicas, none.peer_wait_share, none.ranks }, { 1 })
end)

case("of several strategies in a loop nothing is told", function()
  local first, second = by_hand(strategy_of(2)), by_hand(strategy_of(2))
  local row = gb.measure.loop(function(...) first(...) return second(...) end, digits:batch(64),
    { budget = 0.05, min_time = 0.01 })
  equal({ row.batch_size, row.detail }, { 64, "no columns of replicas: 2 strategies run in the loop" })
  equal({ row.replicas, row.exchanges, row.ranks }, {})
end)

if kind == "cpu:" then case("a slow replica is named, and a balanced split gives it less", function()
  for slow = 1, 2 do
    local delays = { 0, 0 }
    delays[slow] = 5e-4
    local strategy = strategy_of(2, { delays = delays })
    local row = gb.measure.training(strategy:scope(build), digits:batch(96), { budget = 0.3, warmup = 0.05 })
    equal(row.last_rank, slow - 1)
    equal(row.last_rank_device, "cpu:" .. slow - 1)
    local shares = gb.distribute.balanced_shares(row.ranks)
    is_true(shares[3 - slow] == 1 and shares[slow] < 0.5, "shares")
  end
end) end

case("efficiency relates to one replica", function()
  local alone_row = { replicas = 1, batch_size = 32, examples_per_s = 1000, examples_low_per_s = 950,
    examples_high_per_s = 1050 }
  local row = { replicas = 2, batch_size = 64, examples_per_s = 1800, examples_low_per_s = 1700,
    examples_high_per_s = 1900 }
  gb.measure.efficiency(row, { alone_row, alone_row }, "weak")
  near(row.weak_efficiency, 0.9, 1e-12)
  near(row.weak_efficiency_low, 1700 / 2100, 1e-12)
  near(row.weak_efficiency_high, 1900 / 1900, 1e-12)
  raises("relates to one with 64; it has 32", gb.measure.efficiency, row, alone_row, "strong")
  raises("'weak' or 'strong' is expected, got nil", gb.measure.efficiency, row, alone_row)
  raises("a row of one replica is expected", gb.measure.efficiency, row, row, "weak")
  raises("a number above 0 is expected, got 0", gb.measure.efficiency, row,
    { replicas = 1, batch_size = 32, examples_per_s = 0 }, "weak")
end)
