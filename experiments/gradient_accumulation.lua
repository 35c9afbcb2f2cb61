local gb = require "gpubench"

local batch_size = gb.quick and 128 or 512
local digits = gb.datasets.mnist "train"

local function build(steps)
  gb.config.set_seed(11)
  local model = gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(32, 3, { activation = "relu" }),
    gb.layers.MaxPooling2D(2),
    gb.layers.Flatten(),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile {
    optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, loss = "categorical_crossentropy",
    gradient_accumulation_steps = steps,
  }
  return model
end

local function largest(weights, others)
  local most = 0
  for i, weight in ipairs(weights) do most = math.max(most, (weight - others[i]):abs():max():item()) end
  return most
end

-- The weights after two updates, and before.
local function updated(steps)
  local model = build(steps)
  local before = model:get_weights()
  model:fit(digits:batch(batch_size):take(2), { verbose = 0 })
  return model:get_weights(), before
end

gb.experiment {
  name  = "gradient_accumulation",
  topic = "memory",
  title = "A large batch in small parts: the same update in less memory",
  question = "What does it save, and cost, to train on a large batch in several small ones?",
  cause    = "The activations of a batch are kept until its backward pass, so those of a large batch may not fit "
    .. "the device.",
  remedy   = "Gradient accumulation: the batch is cut into parts, which are computed one after the other; their "
    .. "gradients are added up, and one update follows.",
  reading  = "Memory of activations over the number of parts, both logarithmic: twice the parts need half of it. "
    .. "Memory of everything falls less, because weights and gradients stay. The time of a step should stay flat: "
    .. "where it rises, parts are too small for the device.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("gradient_accumulation_steps", { 1, 2, 4, 8 }, {
      accepts = function(value)
        return math.type(value) == "integer" and value > 0 and batch_size % value == 0, "divisors of " .. batch_size
      end,
    }),
  },
  -- Memory is that of the step's plan. activations_ratio and memory_ratio (of all that the step takes) relate it to
  -- the whole batch's. update_difference: how far the weights are from those that the whole batch gives after two
  -- updates, the largest difference as a share of the largest change. Rounding alone makes it about 1e-6; parts that
  -- were left out or counted twice would make it about 1.
  columns = {
    "activations_bytes", "step_memory_bytes", gb.column("activations_ratio", { kind = "memory" }),
    gb.column("memory_ratio", { kind = "memory", unit = "share" }),
    gb.column("update_difference", { kind = "counted" }),
  },
  run = function(point)
    return gb.device(point.device, function()
      local steps = point.gradient_accumulation_steps
      local whole, before = updated(1)
      local difference = largest((updated(steps)), whole) / largest(whole, before)
      whole, before = nil, nil
      collectgarbage()
      local undivided = build(1):memory(batch_size)
      local model = build(steps)
      local planned = model:memory(batch_size)
      local row = gb.measure.training(model, digits:batch(batch_size, { drop_remainder = true }))
      row.activations_bytes = planned.peak_activations
      row.activations_ratio = planned.peak_activations / undivided.peak_activations
      row.step_memory_bytes, row.memory_ratio = planned.total, planned.total / undivided.total
      row.update_difference = difference
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "gradient_accumulation_steps", y = "activations_bytes", series = "device",
      log_x = 2, log_y = 2 },
    gb.chart.line { x = "gradient_accumulation_steps", y = "step_memory_bytes", series = "device", log_x = 2 },
    gb.chart.line { x = "gradient_accumulation_steps", y = "step_time_s", series = "device", log_x = 2 },
  },
  expect = {
    gb.expect.decreasing { x = "gradient_accumulation_steps", y = "activations_ratio", by = "device" },
    gb.expect.at_most {
      y = "activations_ratio", value = 0.26, where = { gradient_accumulation_steps = 4 },
      claim = "four parts hold a quarter of the activations",
    },
    gb.expect.at_most {
      y = "memory_ratio", value = 0.5, where = { gradient_accumulation_steps = 4 },
      claim = "four parts at least halve all that the step takes",
      answer = "Cut the batch into 4 parts and accumulate their gradients: a step takes {of} of the memory of a step "
        .. "with the whole batch",
    },
    gb.expect.at_most {
      y = "update_difference", value = 1e-4, claim = "the update is the whole batch's, but for rounding",
      answer = "The update stays that of the whole batch, but for rounding",
    },
    gb.expect.ratio {
      y = "step_time_s", of = { gradient_accumulation_steps = 4 }, over = { gradient_accumulation_steps = 1 },
      at_most = 1.15, claim = "four parts take at most 15 % more time",
      answer = "What it costs: a step in 4 parts takes {times} the time of a step with the whole batch",
    },
  },
}
