-- The device of a point is the CPU with so many threads. What the cores do while it trains is the column cpu_share: the
-- share of all processors' time that this program uses.
local gb = require "gpubench"

local most = gb.config.cpu_threads()
local alone = most == 1 and "this program may use one core only" or nil

-- Two threads of one core share its units, so that all of them together may be little more than half as fast as
-- counted.
local least_gain = math.max(1.2, 0.4 * most)

local function counts()
  local list, n = {}, 1
  while n < most do
    list[#list + 1], n = n, n * 2
  end
  list[#list + 1] = most
  return list
end

gb.experiment {
  name  = "cpu_threads",
  topic = "devices",
  title = "Cores idle when kernels are given few threads, or too little to divide",
  question = "Why does training on the CPU leave cores idle?",
  cause    = "Kernels run on as many threads as their device has, and one thread keeps one core busy. A small batch "
    .. "has too little work for many: starting them and waiting for the slowest takes much of the time.",
  remedy   = "As many threads as cores (--threads, OMP_NUM_THREADS), and a batch that is large enough to divide.",
  reading  = "Examples/s over threads, both logarithmic: along a slope of 1 each thread adds as much as the first. The "
    .. "share of all cores that the program uses shows which of them idle. Step times one after the other should stay "
    .. "level: where they rise, the processor was slowed down or other programs ran.",
  axes  = {
    gb.axis("batch_size", { 8, 512 }),
    gb.axis("threads", counts(), {
      accepts = function(value)
        return math.type(value) == "integer" and value > 0 and value <= most, "1 to " .. most
      end,
    }),
  },
  run = function(point)
    gb.config.set_logical_devices("cpu:0", { { threads = point.threads } })
    return gb.device("cpu:0", function()
      local model = gb.Sequential {
        gb.layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
        gb.layers.Dense(512, { activation = "relu" }),
        gb.layers.Dense(10, { activation = "softmax" }),
      }
      model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
      local input = gb.datasets.mnist("train"):repeated():batch(point.batch_size)
      return gb.measure.training(model, input, { resident = true })
    end)
  end,
  charts = {
    gb.chart.line { x = "threads", y = "examples_per_s", series = "batch_size", log_x = 2, log_y = 2 },
    gb.chart.line { x = "threads", y = "cpu_share", series = "batch_size", log_x = 2 },
    gb.chart.course { series = "threads", where = { batch_size = 512 }, log_y = 10 },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { threads = most }, over = { threads = 1 }, where = { batch_size = 512 },
      at_least = least_gain, unmeasurable = alone,
      claim = string.format("with a large batch %d threads are at least %.3g times as fast as one", most, least_gain),
      answer = string.format("Use all %d cores: {times} the examples/s of one thread", most),
    },
    gb.expect.increasing {
      x = "batch_size", y = "examples_per_s", of = { threads = most }, over = { threads = 1 }, unmeasurable = alone,
      claim = "a large batch gains more by threads than a small one",
      answer = "Threads need work to divide: all of them together speed up batch {first} by {over} times, batch "
        .. "{x} by {of} times",
    },
  },
}
