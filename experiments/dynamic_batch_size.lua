local gb = require "gpubench"

local MiB = 1 << 20
local digits = gb.datasets.mnist("train"):repeated()

local function batches(size) return digits:batch(size) end

local function build()
  local model = gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(32, 3, { activation = "relu" }),
    gb.layers.MaxPooling2D(2),
    gb.layers.Flatten(),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  return model
end

-- 1 when a step with such a batch fits, 0 when memory runs out.
local function fits(model, size)
  local ok, reason = pcall(model.fit, model, batches(size), { steps_per_epoch = 1, verbose = 0 })
  if not ok and not tostring(reason):find("out of memory", 1, true) then error(reason, 0) end
  return ok and 1 or 0
end

gb.experiment {
  name  = "dynamic_batch_size",
  topic = "launching",
  title = "The largest batch that fits, in few attempts",
  question = "Which batch is the largest that a device has memory for, and how many attempts does it take to know?",
  cause    = "A batch size that is fixed in the script is too large for one device, where memory runs out, and "
    .. "too small for the next, where memory stays unused.",
  remedy   = "Let gb.find_batch_size choose it: it plans batches without taking their memory, proves what it "
    .. "found by real steps, and backs off where memory ends earlier.",
  reading  = "The batch that was found, over the memory limit: it rises with the limit. Examples/s of training "
    .. "with it: where the line is flat, more memory makes training no faster.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("limit_bytes", { 16 * MiB, 32 * MiB, 64 * MiB, 128 * MiB }),
  },
  -- used_ratio: the peak of memory in use over the limit.
  columns = {
    gb.column("trials", { kind = "counted" }), gb.column("used_ratio", { kind = "memory", unit = "share" }),
    gb.column("prediction_error", { kind = "memory" }), gb.column("tenth_more_fits", { kind = "memory" }),
  },
  seconds = function(_, measurement_s) return measurement_s + 0.3 end,
  run = function(point)
    gb.config.set_memory_limit(point.device, point.limit_bytes)
    return gb.device(point.device, function()
      local model = build()
      local batch_size, search = gb.find_batch_size(model, batches)
      local last = search.trials[#search.trials]
      local row = gb.measure.training(model, batches(batch_size))
      row.trials, row.used_ratio = #search.trials, last.used / point.limit_bytes
      row.prediction_error = math.abs(last.used - last.predicted) / last.used
      row.tenth_more_fits = fits(build(), batch_size + math.max(1, batch_size // 10))
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "limit_bytes", y = "batch_size", series = "device", log_x = 2, log_y = 2 },
    gb.chart.line { x = "limit_bytes", y = "examples_per_s", series = "device", log_x = 2 },
  },
  expect = {
    gb.expect.increasing { x = "limit_bytes", y = "batch_size", by = "device" },
    gb.expect.at_most {
      y = "trials", value = 4, claim = "it takes at most four attempts",
      answer = "Let gb.find_batch_size choose the batch, instead of trying sizes by hand: attempts that it takes: {of}",
    },
    gb.expect.at_most {
      y = "prediction_error", value = 0.02, claim = "what was predicted is what is used, within 2 %",
    },
    gb.expect.at_least {
      y = "used_ratio", value = 0.8, claim = "the batch puts most of the limit to use",
      answer = "Its batch uses {of} of the memory limit",
    },
    gb.expect.at_most {
      y = "tenth_more_fits", value = 0, claim = "a tenth more examples run out of memory",
      answer = "With a batch larger by a tenth, memory runs out",
    },
  },
}
