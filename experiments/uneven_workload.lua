-- Model: M1 of the scenarios.
-- The slow replica waits after every example, in proportion to its share, as a device of half the speed would: the wait
-- is as long as an example takes alone. `named_right`: whether the row's last_rank is the replica that was slowed, or
-- given most. `ideal_ratio`: the step time over that of a division in which all replicas are done at once, by the times
-- of an example that were measured with even shares. Replicas are the GPUs, or, where there are none, logical CPU
-- devices of one thread for each core.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices "GPU"
local most = #gpus > 0 and #gpus or math.max(gb.config.cpu_threads(), 2)
local batch_size = 256 * most
local digits = gb.datasets.mnist "train"

local function devices()
  if #gpus > 0 then return gpus end
  local names, logical = {}, {}
  for i = 1, most do names[i], logical[i] = "cpu:" .. i - 1, { threads = 1 } end
  gb.config.set_logical_devices("cpu:0", logical)
  return names
end

local function measure(options, budget)
  local strategy = gb.distribute.MirroredStrategy(options)
  local model = strategy:scope(function()
    gb.config.set_seed(3)
    local made = gb.Sequential {
      gb.layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    made:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
    return made
  end)
  return gb.measure.training(model, digits:batch(batch_size, { drop_remainder = true }), {
    resident = true, budget = budget,
  })
end

local function filled(count, value)
  local list = {}
  for i = 1, count do list[i] = value end
  return list
end

-- By replica, the seconds of an example with even shares.
local function example_times(row)
  local times = {}
  if not row.ranks[1].own_s then error("what each replica does itself is not known here: " .. row.detail, 0) end
  for i, rank in ipairs(row.ranks) do times[i] = rank.own_s / (batch_size / most) end
  return times
end

gb.experiment {
  name  = "uneven_workload",
  topic = "scaling",
  needs = "several GPUs, or a CPU of several cores",
  title = "The slowest replica sets the step",
  question = "One replica is slower than the others, or has more to do: who waits for whom, and what does an even "
    .. "load give back?",
  cause    = "A batch that is divided unevenly, or evenly among devices of which one is slow: in every step all wait "
    .. "for the slowest.",
  remedy   = "Even shares for equal devices; where one is slow, shares by what each was measured to do.",
  reading  = "Step time, and the share of it that replicas wait for others, by how the batch is divided.",
  axes  = {
    gb.axis("slow_replica", { "none", "last" }),
    gb.axis("division", { "even", "uneven", "measured" }),
  },
  columns = { gb.column("named_right", { kind = "time" }), "ideal_ratio", "largest_share" },
  seconds = function(_, measurement_s) return measurement_s + 2 * (0.3 + 0.3) end,
  run = function(point)
    local names = devices()
    local alone = measure({ devices = names }, 0.3)
    local delays = filled(most, 0)
    if point.slow_replica == "last" then delays[most] = example_times(alone)[most] end
    local even = measure({ devices = names, delays = delays }, 0.3)
    local shares = filled(most, 1)
    if point.division == "uneven" then shares[1] = 3 end
    if point.division == "measured" then shares = gb.distribute.balanced_shares(even.ranks) end
    local row = measure({ devices = names, delays = delays, shares = shares })

    local speed, sum = 0, 0
    for i, time in ipairs(example_times(even)) do
      speed, sum = speed + 1 / time, sum + shares[i]
    end
    row.ideal_ratio = row.step_time_s * speed / batch_size
    row.largest_share = math.max(table.unpack(shares)) / sum
    local slowest = point.division == "uneven" and 0 or most - 1
    local contested = point.slow_replica == "last" and point.division == "uneven"
    local told = point.division == "uneven" or point.slow_replica == "last" and point.division == "even"
    if told and not contested then row.named_right = row.last_rank == slowest and 1 or 0 end
    return row
  end,
  charts = {
    gb.chart.bar { x = "division", y = "step_time_s", series = "slow_replica",
      title = "Step time, by which replica is slow" },
    gb.chart.bar { x = "division", y = "peer_wait_share", series = "slow_replica",
                   title = "Waiting for other replicas, by which replica is slow" },
  },
  expect = {
    gb.expect.at_least {
      y = "named_right", value = 1, where = { slow_replica = "last", division = "even" },
      claim = "a slow replica, which the others wait for, is named",
    },
    gb.expect.at_least {
      y = "named_right", value = 1, where = { slow_replica = "none", division = "uneven" },
      claim = "the replica that has most to do is named",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { division = "uneven" }, over = { division = "even" }, at_least = 1.2,
      where = { slow_replica = "none" }, claim = "an uneven division takes longer on equal devices",
      answer = "Divide the batch evenly among equal devices: an uneven division takes {times} as long",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { division = "measured" }, over = { division = "even" }, at_most = 0.95,
      where = { slow_replica = "last" }, claim = "a measured division gives back what a slow device takes",
      answer = "Give a slow device less: with measured shares a step takes {less} less time than with even ones",
    },
  },
}
