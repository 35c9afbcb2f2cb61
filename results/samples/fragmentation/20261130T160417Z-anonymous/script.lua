local gb = require "gpubench"

local limit = 256 << 20
local sizes = { same = { 256 }, growing = { 64, 96, 144, 200, 256 } }
local digits = gb.datasets.mnist "train"

local function build(execution)
  local model = gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(16, 3, { activation = "relu" }),
    gb.layers.MaxPooling2D(2),
    gb.layers.Flatten(),
    gb.layers.Dense(128, { activation = "relu" }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy", execution = execution }
  return model
end

gb.experiment {
  name  = "fragmentation",
  topic = "memory",
  title = "Allocations of changing size fragment memory; planned memory does not",
  question = "When does memory that is free in sum fail to serve, and what avoids it?",
  cause    = "Tensors change their sizes from batch to batch, and each is taken from the pool when its op runs. "
    .. "Free pieces of old sizes fit no new tensor, so more and more memory is reserved.",
  remedy   = "Planned memory, one block per device in which each tensor of a step has its place; or a pool that "
    .. "takes all of its memory at the start, where free neighbours become one piece.",
  reading  = "Memory reserved, by execution: without fragmentation, growing batches reserve no more than batches "
    .. "of one size. Largest free piece as a share of what is free: 1 means that all of it is one piece. With "
    .. "growth = false the pool takes the whole limit at the start.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("execution", { "eager", "graph" }, { closed = true }),
    gb.axis("growth", { true, false }),
    gb.axis("batches", { "same", "growing" }, { closed = true }),
  },
  -- largest_free_share: taken after the last step, when only weights and the optimizer's state live on.
  -- gaps_share: how much larger the plan's block is than the most that is alive in it at one time.
  columns = {
    "in_use_bytes", "free_bytes", "largest_free_bytes", gb.column("largest_free_share", { kind = "memory" }),
    "reserved_bytes", gb.column("gaps_share", { kind = "memory" }),
  },
  seconds = function() return 0.1 end,
  run = function(point)
    gb.config.set_memory_limit(point.device, limit)
    gb.config.set_memory_growth(point.device, point.growth)
    return gb.device(point.device, function()
      local model = build(point.execution)
      for _, size in ipairs(sizes[point.batches]) do
        model:fit(digits:batch(size), { steps_per_epoch = 2, verbose = 0 })
      end
      local report = gb.memory.report(point.execution == "graph" and model or nil)
      local row = { detail = "no shares: fit trains, and no step is traced" }
      for _, pool in ipairs(report.devices) do
        if pool.device == point.device then
          row.in_use_bytes, row.reserved_bytes = pool.in_use, pool.reserved
          row.peak_memory_bytes = pool.peak
          row.free_bytes, row.largest_free_bytes = pool.reserved - pool.in_use, pool.largest_free
          row.largest_free_share = 1 - pool.fragmentation
        end
      end
      if report.step then row.gaps_share = report.step.arena / report.step.lower_bound - 1 end
      return row
    end)
  end,
  charts = {
    gb.chart.bar { x = "execution", y = "reserved_bytes", series = { "growth", "batches" } },
    gb.chart.bar { x = "execution", y = "largest_free_share", series = { "growth", "batches" } },
  },
  expect = {
    gb.expect.ratio {
      y = "reserved_bytes", of = { batches = "growing" }, over = { batches = "same" },
      where = { execution = "graph", growth = true }, at_most = 1.1,
      claim = "planned, they reserve no more than the largest alone",
      answer = "Run the model as a graph, whose memory is planned: batches of growing size then reserve {times} the "
        .. "memory of the largest alone",
    },
    gb.expect.ratio {
      y = "reserved_bytes", of = { batches = "growing" }, over = { batches = "same" },
      where = { execution = "eager", growth = true }, at_least = 1.5,
      claim = "executed eagerly, growing batches reserve half as much again as the largest alone, at least",
      answer = "Eager execution, whose memory is not planned, reserves {times} the memory of the largest batch alone",
    },
    gb.expect.at_most {
      y = "largest_free_share", value = 0.5, where = { execution = "eager", growth = true, batches = "growing" },
      claim = "most of what is then free is not in one piece",
    },
    gb.expect.at_most {
      y = "gaps_share", value = 0.05, where = { execution = "graph" },
      claim = "a plan is within 5 % of the most that is alive at one time",
    },
    gb.expect.at_least {
      y = "largest_free_share", value = 0.9, where = { execution = "eager", growth = false },
      claim = "preallocated, what is free is in one piece",
      answer = "Or let the pool take all of its memory at the start: the largest free piece is then {of} of "
        .. "what is free",
    },
  },
}
