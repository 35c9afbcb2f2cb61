-- `--set model=resnet18` and the other nets of gb.zoo are measured in the sizes of lua/gpubench/zoo/workload.lua,
-- without a limit of memory.
local gb = require "gpubench"
local workload = require "gpubench.zoo.workload"

local net = gb.param("model", "dense", { accepts = workload.accepts "dense" })
local is_dense = net == "dense"

-- All devices get as little memory as this, so that the sweep reaches its end within seconds.
local limit = 16 << 20

-- Per device: the largest batch that fits, and the smallest that does not.
local function memory_ends(rows)
  local fits, fails, devices = {}, {}, {}
  for _, row in ipairs(rows) do
    local device, size = row.device, row.batch_size
    if not fits[device] then devices[#devices + 1], fits[device], fails[device] = device, 0, math.huge end
    if row.status == "ok" then fits[device] = math.max(fits[device], size) end
    if row.status == "out_of_memory" then fails[device] = math.min(fails[device], size) end
  end
  local verdict, parts = "confirmed", {}
  for index, device in ipairs(devices) do
    local ends = fails[device] < math.huge
    if not ends or fits[device] == 0 then verdict = verdict == "refuted" and verdict or "inconclusive" end
    if ends and fits[device] > fails[device] then verdict = "refuted" end
    parts[index] = string.format("batch %d fits and %s (%s)", fits[device],
      ends and math.tointeger(fails[device]) .. " does not" or "none was too large", device)
  end
  local reason = table.concat(parts, "; ")
  return verdict, reason, string.format("Memory sets the upper end: within %s %s", gb.format.bytes(limit), reason)
end

local function dense()
  local model = gb.Sequential {
    gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
  return model
end

local expectations = {
  gb.expect.knee {
    x = "batch_size", y = "examples_per_s", by = "device",
    answer = "Use a batch of {x} or more: {times} the examples/s of batch {first}; larger ones bring "
      .. "at most 11 % more",
  },
}
-- Larger nets fill a small device with one example.
if is_dense then
  -- Also where one of the largest batches has no sound time, and the knee stays open.
  expectations[2] = gb.expect.ratio {
    y = "examples_per_s", of = { batch_size = 64 }, over = { batch_size = 1 }, at_least = 4,
    claim = "a batch of 64 trains at least 4 times as many examples a second as a batch of 1",
    answer = "Train in batches: batch 64 already reaches {times} the examples/s of batch 1 ({of} instead of {over}); "
      .. "larger ones may gain more",
  }
  -- On every CPU and GPU the knee is expected at 64 or later.
  expectations[3] = gb.expect.increasing { x = "batch_size", y = "examples_per_s", by = "device", to = 64 }
  expectations[4] = gb.expect.that {
    claim = "all batches up to one fit the memory, and larger ones do not", judge = memory_ends,
    axes = { "batch_size" },
  }
end

gb.experiment {
  name  = "batch_size",
  topic = "launching",
  title = "A batch that is too small leaves the device idle",
  question = "Why is the device not busy when it trains with a batch of 1?",
  cause    = "Every step costs the same launches, updates of all weights and bookkeeping whatever the batch, so with a "
    .. "batch that is too small the device idles between them, or is busy with these.",
  remedy   = "A larger batch, up to the knee where examples/s stops rising, or to the end of memory.",
  reading  = "All axes are logarithmic. Examples/s over the batch: along a slope of 1 a step takes the same time "
    .. "whatever its batch; where the line is flat the device can do no more. Step time shows the same: flat first, "
    .. "then rising with the batch. A line ends where memory does.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("batch_size", is_dense and { 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 16384 }
      or { 1, 2, 4, 8, 16, 32, 64 }),
  },
  run = function(point)
    if is_dense then gb.config.set_memory_limit(point.device, limit) end
    return gb.device(point.device, function()
      if is_dense then
        local train = gb.datasets.mnist("train"):shuffle(10000):repeated()
        return gb.measure.training(dense(), train:batch(point.batch_size):prefetch(gb.AUTOTUNE))
      end
      local options = workload.options(net, gb.quick)
      return gb.measure.training(workload.compiled(net, options, "float32"),
        workload.batches(net, options, point.batch_size))
    end)
  end,
  charts = {
    gb.chart.line { x = "batch_size", y = "examples_per_s", series = "device", log_x = 2, log_y = 10 },
    gb.chart.line { x = "batch_size", y = "step_time_s", series = "device", log_x = 2, log_y = 10 },
  },
  expect = expectations,
}
