-- Rows of `part` "all_reduce" are single all-reduces. Each is also predicted: on two replicas from the other sizes, on
-- more from two. Rows of "step" are about a training with a fixed batch per replica: a step alone, the all-reduces of
-- two replicas, and the overlap seen there, give the step on `modelled_replicas` (gb.measure.scaling_model). The row
-- whose `source` is "measured" has the training itself, with the prediction and its error. Without GPUs, replicas are
-- logical CPU devices of one thread each, and the link between them is the memory, which they share while they compute
-- too: the prediction knows nothing of that.
local gb = require "gpubench"

if gb.distribute.num_processes() > 1 then
  error("sync_overhead is about the replicas of one process: start it in one; multi_worker.lua is about many", 0)
end
local kib, mib = 1 << 10, 1 << 20
local gpus = #gb.config.list_physical_devices "GPU"
local processors = tonumber(gb.config.device_description("cpu:0"):match "(%d+) thread")
local sizes = { 256, kib, 4 * kib, 16 * kib, 64 * kib, 256 * kib, mib, 4 * mib, 16 * mib, 64 * mib }
local fitted = 2  -- replicas that the model is made of
-- the gradients of the training below are smaller than the last
local buckets = { 256, 4 * kib, 64 * kib, mib, 16 * mib }

-- 2, 4, 8, ... and all.
local function counts(most)
  local list = { 2 }
  while list[#list] * 2 <= most do list[#list + 1] = list[#list] * 2 end
  if list[#list] < most then list[#list + 1] = most end
  return list
end

local function devices(count)
  local kind = gpus >= 2 and "gpu" or "cpu"
  local names, threads = {}, {}
  for index = 1, count do names[index], threads[index] = kind .. ":" .. index - 1, { threads = 1 } end
  if kind == "cpu" then gb.config.set_logical_devices("cpu:0", threads) end
  return names
end

local function all_reduces(names, count, cross_device, of_sizes)
  return gb.measure.collective {
    sizes = table.move(of_sizes or sizes, 1, #(of_sizes or sizes), 1, {}), devices = table.move(names, 1, count, 1, {}),
    cross_device = cross_device,
  }
end

local function single_messages(point, names)
  local rows = all_reduces(names, point.replicas, point.cross_device)
  local known = point.replicas == fitted and {} or all_reduces(names, fitted, point.cross_device)
  table.move(rows, 1, #rows, #known + 1, known)
  -- Only the exchange is asked for: any step will do.
  local model = gb.measure.scaling_model { collectives = known, fit_up_to = fitted, step_time_s = 1,
    gradient_bytes = 1 }
  local predicted = {}
  for _, one in ipairs(model.collectives) do
    predicted[one.replicas .. "/" .. math.tointeger(one.message_bytes)] = one
  end
  for _, row in ipairs(rows) do
    local one = predicted[row.replicas .. "/" .. row.message_bytes]
    row.predicted_time_s, row.prediction_error_share = one.predicted_time_s, one.prediction_error_share
  end
  return rows
end

local function train(names, count, cross_device)
  local strategy = gb.distribute.MirroredStrategy {
    devices = table.move(names, 1, count, 1, {}), cross_device = cross_device,
  }
  local model = strategy:scope(function()
    local built = gb.Sequential {
      gb.layers.Dense(1024, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(1024, { activation = "relu" }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    built:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    return built
  end)
  return gb.measure.training(model, gb.datasets.mnist("train"):batch(64 * count, { drop_remainder = true }))
end

local function steps(point, names)
  local alone = train(names, 1, point.cross_device)
  local together = train(names, point.replicas, point.cross_device)
  local pair = point.replicas == fitted and together or train(names, fitted, point.cross_device)
  local model = gb.measure.scaling_model {
    collectives = all_reduces(names, fitted, point.cross_device, buckets), step_time_s = alone.step_time_s,
    gradient_bytes = pair.exchange_bytes, bucket_bytes = pair.exchange_bytes / pair.exchanges,
    overlap = pair.overlap_share, measured = { together },
  }
  for _, line in ipairs(model.assumptions) do print("assumed: " .. line) end
  local rows = {}
  for index, one in ipairs(model.rows) do
    rows[index] = { source = "predicted", modelled_replicas = one.replicas,
      predicted_step_time_s = one.predicted_step_time_s,
                    efficiency_share = one.weak_efficiency, strong_efficiency_share = one.strong_efficiency }
    if one.replicas == point.replicas then
      together.source, together.modelled_replicas = "measured", point.replicas
      together.efficiency_share = alone.step_time_s / together.step_time_s
      together.predicted_step_time_s = one.predicted_step_time_s
      together.prediction_error_share = one.prediction_error_share
      together.prediction_off_share = math.abs(one.prediction_error_share)
    end
  end
  rows[#rows + 1] = together
  return rows
end

gb.experiment {
  name  = "sync_overhead",
  topic = "scaling",
  needs = "several GPUs, or a CPU of several cores",
  title = "Every message costs a latency: fewer and larger ones keep replicas in step for less",
  question = "What does it cost to keep replicas in step, and what will it cost on more of them?",
  cause    = "Replicas exchange their gradients in every step. A message costs a latency however small it is, and "
    .. "its bytes have to travel; whoever adds up all alone is a bottleneck.",
  remedy   = "Fewer and larger messages (buckets of gradients), an exchange in which all replicas work, faster "
    .. "links, and exchanges beside the backward pass.",
  reading  = "Time and bus bandwidth of an all-reduce by its size; the efficiency of weak scaling predicted up to "
    .. "4096 replicas, with what was measured here.",
  axes  = {
    gb.axis("part", { "all_reduce", "step" }),
    gb.axis("replicas", counts(gpus >= 2 and gpus or processors)),
    gb.axis("cross_device", gpus >= 2 and { "automatic" } or { "automatic", "reduction_to_one" }),
  },
  columns = { "source", "predicted_time_s", "prediction_error_share", "prediction_off_share", "modelled_replicas",
              "predicted_step_time_s", "efficiency_share", "strong_efficiency_share" },
  skip = function(point)
    if point.part == "step" and point.cross_device ~= "automatic" then
      return "the message itself shows what reduction to one costs"
    end
  end,
  seconds = function(point, measurement_s)
    local messages_s = measurement_s + 0.2 * #sizes
    local pair_s = point.replicas == fitted and 0 or point.part == "step" and measurement_s or messages_s
    return (point.part == "step" and measurement_s + 0.2 * #buckets or messages_s) + pair_s
      + (point.part == "step" and 2 * measurement_s or 0)
  end,
  run = function(point)
    local names = devices(point.replicas)
    return (point.part == "step" and steps or single_messages)(point, names)
  end,
  charts = {
    gb.chart.line { x = "message_bytes", y = "collective_time_s", series = "cross_device",
      where = { part = "all_reduce" },
                    log_x = 2, log_y = 10, title = "Time of an all-reduce by its size" },
    gb.chart.line { x = "message_bytes", y = "bus_bytes_per_s", series = "cross_device",
      where = { part = "all_reduce" },
                    log_x = 2, log_y = 10, title = "Bus bandwidth of an all-reduce by its size" },
    gb.chart.line { x = "modelled_replicas", y = "efficiency_share", series = "source",
      where = { part = "step" }, log_x = 2,
                    title = "Efficiency of weak scaling, predicted from two replicas" },
  },
  expect = {
    gb.expect.at_most { y = "wrong", value = 0, where = { part = "all_reduce" }, claim = "every sum is exact" },
    gb.expect.ratio {
      y = "collective_time_s", of = { message_bytes = 4 * kib }, over = { message_bytes = 256 },
      where = { part = "all_reduce" }, at_most = 4,
      claim = "below the latency's knee size is nearly free: 16 times the bytes take at most 4 times as long",
    },
    gb.expect.increasing {
      x = "message_bytes", y = "bus_bytes_per_s", where = { part = "all_reduce" }, until_knee = true, tolerance = 0.1,
      claim = "each larger message reaches a higher bus bandwidth than the one before, until the knee",
    },
    gb.expect.ratio {
      y = "bus_bytes_per_s", of = { message_bytes = mib }, over = { message_bytes = 256 },
      where = { part = "all_reduce" },
      at_least = 8, claim = "messages of 1 MiB reach at least 8 times the bus bandwidth of 256 bytes",
      answer = "Exchange gradients in large messages: 1 MiB reaches {times} the bus bandwidth of 256 bytes",
    },
    gb.expect.ratio {
      y = "collective_time_s", of = { cross_device = "reduction_to_one" }, over = { cross_device = "automatic" },
      where = { part = "all_reduce", message_bytes = mib }, at_least = 1.3,
      claim = "1 MiB takes at least 1.3 times as long where one replica adds up for all",
      answer = "Let all replicas take part in the exchange: 1 MiB takes {times} as long where one replica adds up "
        .. "for all",
    },
    gb.expect.at_most {
      y = "prediction_off_share", value = 0.3, where = { part = "step", source = "measured" },
      claim = "steps of replicas are predicted within 30 %",
    },
  },
}
