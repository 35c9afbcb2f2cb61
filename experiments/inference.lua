-- `--set model=resnet18` and the other nets of gb.zoo are measured in the sizes of lua/gpubench/zoo/workload.lua.
local gb = require "gpubench"
local workload = require "gpubench.zoo.workload"

local net = gb.param("model", "convolutional", { accepts = workload.accepts "convolutional" })

-- Not trained: what an answer costs does not depend on what is answered.
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

-- The model and its examples.
local function made(dtype)
  if net == "convolutional" then return convolutional(dtype), gb.datasets.mnist "test" end
  local options = workload.options(net, gb.quick)
  return workload.compiled(net, options, dtype), workload.examples(net, options)
end

-- One thing is changed at a time: how the model is executed, in which type, and how requests come. Offline, batches
-- come back to back and only the rate counts.
local settings = {
  single = {},
  eager = { execution = "eager" },
  bfloat16 = { dtype = "bfloat16" },
  four_clients = { concurrency = 4 },
  offline = { mode = "offline" },
}

gb.experiment {
  name  = "inference",
  topic = "models",
  title = "Batches for latency or for throughput",
  question = "Are the settings of training right for inference?",
  cause    = "A large batch, as in training, makes every answer wait for the whole batch. Single examples, "
    .. "executed eagerly, leave the device idle.",
  remedy   = "Choose the batch for what is asked: 1 for the shortest latency, a larger one for the most examples a "
    .. "second. Run the model as a planned graph, which folds batch norm into the weights, and send no more "
    .. "requests at once than the device can serve.",
  reading  = "The latency that 99 % of the answers do not exceed, over examples/s: along a line the batch grows; "
    .. "further right is more throughput, further down is less latency. Median latency and examples/s over the "
    .. "batch show the two apart. In the distribution, a line that rises late and slowly has slow answers: its tail.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("setting", { "single", "eager", "bfloat16", "four_clients", "offline" }),
    gb.axis("batch_size", { 1, 4, 16, 64, 256 }),
  },
  seconds = function(_, measurement_s) return 0.5 * measurement_s end,
  run = function(point)
    local setting = settings[point.setting]
    return gb.device(point.device, function()
      local model, examples = made(setting.dtype or "float32")
      return gb.measure.inference(model, {
        batch = point.batch_size, execution = setting.execution, concurrency = setting.concurrency, mode = setting.mode,
        input = examples,
      })
    end)
  end,
  charts = {
    gb.chart.line { x = "examples_per_s", y = "latency_p99_s", series = "setting", log_x = 10, log_y = 10 },
    gb.chart.line { x = "batch_size", y = "latency_s", series = "setting", log_x = 2, log_y = 10 },
    gb.chart.distribution { series = "setting", where = { batch_size = 1 }, log_x = 10 },
    gb.chart.line { x = "batch_size", y = "examples_per_s", series = "setting", log_x = 2, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { batch_size = 64 }, over = { batch_size = 1 }, at_least = 1,
      claim = "a batch of 64 answers more examples a second than single examples",
      answer = "For throughput, answer in batches of 64: {times} the examples/s of a batch of 1",
    },
    gb.expect.ratio {
      y = "latency_s", of = { batch_size = 64 }, over = { batch_size = 1 }, at_least = 2,
      where = { setting = "single" },
      claim = "every answer of a batch of 64 takes at least twice as long as a single one",
      answer = "For latency, answer single examples: with a batch of 64 each answer takes {times} as long",
    },
    gb.expect.ratio {
      y = "latency_s", of = { setting = "single" }, over = { setting = "eager" }, at_most = 1,
      claim = "a planned graph answers no later than eager execution",
      answer = "Run the model as a planned graph: the latency is {less} less than with eager execution",
    },
    gb.expect.ratio {
      y = "examples_per_s", of = { setting = "bfloat16" }, over = { setting = "single" }, at_least = 1,
      where = { batch_size = 64 },
      claim = "bfloat16 answers batches of 64 at least as fast as float32",
      answer = "Answer in bfloat16: batches of 64 reach {times} the examples/s of float32",
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
