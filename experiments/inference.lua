-- Are the settings of training right for inference?
--
-- Cause:  a trained model is used as it was trained: its large batch makes every answer wait for the whole batch; or one
--         example at a time, eagerly, which leaves the device idle.
-- Remedy: choose the batch for what is asked: 1 for the shortest latency, large for the most examples a second; planned
--         as a graph, which folds batch norm into the weights; and no more requests at once than the device can serve.
-- Claims: a batch of 64 answers more examples a second than single ones, and each answer takes longer; a graph is no slower
--         than eager execution; on one device, requests that come four at once wait for each other: latency rises by far
--         more than the rate.
-- Charts: the latency that 99 % do not exceed over examples a second: along a line the batch grows, to the right is more
--         throughput, below is less latency; median latency over the batch.
-- Model:  Conv2D(32, 3x3), batch norm, relu, MaxPooling2D(2x2), Flatten, Dense(10, softmax), not trained: what an answer
--         costs does not depend on what is answered. Offline, batches come back to back and only the rate counts.
local gb = require "gpubench"

local function convolutional(dtype)
  return gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 }, dtype = dtype }),
    gb.layers.Conv2D(32, 3, { use_bias = false, dtype = dtype }),
    gb.layers.BatchNormalization { dtype = dtype },
    gb.layers.Activation("relu", { dtype = dtype }),
    gb.layers.MaxPooling2D(2, { dtype = dtype }),
    gb.layers.Flatten { dtype = dtype },
    gb.layers.Dense(10, { activation = "softmax", dtype = dtype }),
  }
end

-- One thing is changed at a time: how the model is executed, in which type, and how requests come.
local settings = {
  single = {},
  eager = { execution = "eager" },
  bfloat16 = { dtype = "bfloat16" },
  four_clients = { concurrency = 4 },
  offline = { mode = "offline" },
}

gb.experiment {
  name  = "inference",
  title = "Batches for latency or for throughput",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("setting", { "single", "eager", "bfloat16", "four_clients", "offline" }),
    gb.axis("batch_size", { 1, 4, 16, 64, 256 }),
  },
  seconds = function(_, measurement_s) return 0.5 * measurement_s end,
  run = function(point)
    local setting = settings[point.setting]
    return gb.device(point.device, function()
      return gb.measure.inference(convolutional(setting.dtype or "float32"), {
        batch = point.batch_size, execution = setting.execution, concurrency = setting.concurrency, mode = setting.mode,
        input = gb.datasets.mnist("test"),
      })
    end)
  end,
  charts = {
    gb.chart.line { x = "examples_per_s", y = "latency_p99_s", series = "setting", log_x = 10, log_y = 10 },
    gb.chart.line { x = "batch_size", y = "latency_s", series = "setting", log_x = 2, log_y = 10 },
    gb.chart.line { x = "batch_size", y = "examples_per_s", series = "setting", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { batch_size = 64 }, over = { batch_size = 1 }, at_least = 1,
      claim = "a batch of 64 answers more examples a second than single examples",
    },
    gb.expect.ratio {
      y = "latency_s", of = { batch_size = 64 }, over = { batch_size = 1 }, at_least = 2, where = { setting = "single" },
      claim = "every answer of a batch of 64 takes at least twice as long as a single one",
    },
    gb.expect.ratio {
      y = "latency_s", of = { setting = "single" }, over = { setting = "eager" }, at_most = 1,
      claim = "a planned graph answers no later than eager execution",
    },
    gb.expect.ratio {
      y = "latency_s", of = { setting = "four_clients" }, over = { setting = "single" }, at_least = 2,
      claim = "four requests at once wait for each other: each takes at least twice as long",
    },
    gb.expect.ratio {
      y = "examples_per_s", of = { setting = "four_clients" }, over = { setting = "single" }, at_most = 2,
      claim = "four requests at once are not served twice as fast",
    },
  },
}
