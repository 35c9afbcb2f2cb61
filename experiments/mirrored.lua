-- Model: M2 of the scenarios, three layers Dense(width, relu), which exchange much; SGD with momentum.
-- Replicas are the GPUs, or, where there are none, logical CPU devices of one thread for each core. Every row is
-- measured beside one replica on the same path, before it and after it. `update_difference` is how far the weights are
-- from one device's after two updates: the largest difference as a share of the largest change.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices "GPU"
local most = #gpus > 0 and #gpus or gb.config.cpu_threads()
local examples = gb.quick and 64 or 256
-- Buckets of this size divide the gradients into several exchanges, also those of the narrower layers of --quick.
local chosen_bucket = gb.quick and 1 << 20 or 4 << 20
local digits = gb.datasets.mnist "train"
local no_others = most == 1 and "there is one device here only" or nil

local function counts()
  local list, n = {}, 1
  while n < most do
    list[#list + 1], n = n, n * 2
  end
  list[#list + 1] = most
  return list
end

local function devices(count)
  if #gpus > 0 then return table.move(gpus, 1, count, 1, {}) end
  local names = {}
  for i = 1, count do names[i] = "cpu:" .. i - 1 end
  return names
end

local function strategy_of(count, bucket_bytes)
  return gb.distribute.MirroredStrategy { devices = devices(count), bucket_bytes = bucket_bytes }
end

local function build(width)
  gb.config.set_seed(3)
  local model = gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(width, { activation = "relu" }),
    gb.layers.Dense(width, { activation = "relu" }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile {
    optimizer = gb.optimizers.SGD { learning_rate = 0.05, momentum = 0.9 }, loss = "categorical_crossentropy",
    metrics = { "accuracy" },
  }
  return model
end

local function largest(weights, others)
  local largest_of_all = 0
  for i, weight in ipairs(weights) do
    largest_of_all = math.max(largest_of_all, (weight - others[i]):abs():max():item())
  end
  return largest_of_all
end

-- How far two updates of the strategy are from those of one device; the last batch is uneven.
local function update_difference(strategy)
  local function updated(make)
    local model = make(function() return build(64) end)
    local before = model:get_weights()
    model:fit(digits:take(2 * examples - 3):batch(examples), { verbose = 0 })
    return model:get_weights(), before
  end
  local whole, before = updated(function(fn) return gb.device(devices(1)[1], fn) end)
  return largest((updated(function(fn) return strategy:scope(fn) end)), whole) / largest(whole, before)
end

gb.experiment {
  name  = "mirrored",
  topic = "scaling",
  needs = "several GPUs, or a CPU of several cores",
  title = "Devices that train together",
  question = "One device works and the others idle: what do they give when they train together?",
  cause    = "The model is trained on one device of several.",
  remedy   = "Mirrored training: a replica of the model on each device; replicas share a batch, and exchange their "
    .. "gradients in buckets while the backward pass goes on.",
  reading  = "Efficiency over replicas (1 is all that the devices have); step time over the size of buckets. "
    .. "Efficiency compares with one replica right before and after each point, so that a drift of the machine does "
    .. "not count: it is not exactly the quotient of two rates of the table.",
  axes  = {
    gb.axis("replicas", counts(), {
      accepts = function(value)
        return math.type(value) == "integer" and value > 0 and value <= most, "1 to " .. most
      end,
    }),
    gb.axis("scaling", { "weak", "strong" }),
    gb.axis("width", gb.quick and { 512 } or { 2048 }),
    gb.axis("bucket_bytes", gb.quick and { chosen_bucket, 25 << 20 } or { 1 << 20, chosen_bucket, 25 << 20, 1 << 30 }),
  },
  columns = { gb.column("update_difference", { kind = "counted" }) },
  skip = function(point)
    if point.replicas == 1 and point.bucket_bytes ~= 25 << 20 then return "one replica exchanges nothing" end
  end,
  seconds = function(_, measurement_s) return 3 * measurement_s end,
  run = function(point)
    if #gpus == 0 then
      local logical = {}
      for i = 1, most do logical[i] = { threads = 1 } end
      gb.config.set_logical_devices("cpu:0", logical)
    end
    local n = point.replicas
    local batch = point.scaling == "weak" and n * examples or examples
    local function measure(strategy, size)
      local model = strategy:scope(function() return build(point.width) end)
      return gb.measure.training(model, digits:batch(size, { drop_remainder = true }), { resident = true })
    end
    local one, all = strategy_of(1), strategy_of(n, point.bucket_bytes)
    local difference = update_difference(all)
    local alone = point.scaling == "weak" and batch // n or batch
    local before = measure(one, alone)
    local row = measure(all, batch)
    local after = measure(one, alone)
    gb.measure.efficiency(row, { before, after }, point.scaling)
    row.update_difference = difference
    return row
  end,
  charts = {
    gb.chart.line {
      x = "replicas", y = "weak_efficiency", series = "bucket_bytes", where = { scaling = "weak" }, log_x = 2,
      title = "Efficiency with as many examples for each replica",
    },
    gb.chart.line {
      x = "replicas", y = "strong_efficiency", series = "bucket_bytes", where = { scaling = "strong" }, log_x = 2,
      title = "Efficiency with as many examples in all",
    },
    gb.chart.line {
      x = "bucket_bytes", y = "overlap_share", series = "replicas", where = { scaling = "weak" }, log_x = 2,
      title = "Exchange that runs beside the backward pass",
    },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { replicas = most, bucket_bytes = chosen_bucket },
      over = { replicas = 1, bucket_bytes = 25 << 20 }, where = { scaling = "weak" }, at_least = 1.2,
      unmeasurable = no_others,
      claim = "all devices together train at least 1.2 times as many examples a second as one",
      answer = string.format("Train on all %d %s: {times} the examples/s of one, with as many examples for each", most,
        #gpus > 0 and "devices" or "parts of the CPU, with a thread each"),
    },
    gb.expect.at_most {
      y = "update_difference", value = 1e-4,
      claim = "the update is that of one device with the whole batch, but for rounding",
    },
    gb.expect.at_least {
      y = "weak_efficiency", value = 0.9, where = { scaling = "weak", bucket_bytes = chosen_bucket },
      claim = "with as many examples each, n replicas do at least 0.9 n times as much",
      answer = "With as many examples each, every replica works at {of} times the rate of one device alone",
    },
    gb.expect.at_least {
      y = "exchanges", value = 2, where = { scaling = "weak", replicas = most, bucket_bytes = chosen_bucket },
      unmeasurable = no_others, claim = "small buckets divide the gradients into several exchanges",
    },
    gb.expect.at_least {
      y = "overlap_share", value = 0.6, where = { scaling = "weak", replicas = most, bucket_bytes = chosen_bucket },
      unmeasurable = no_others,
      claim = "at least 60 % of the exchange runs beside the backward pass",
    },
  },
}
