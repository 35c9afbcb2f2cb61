-- Model: an autoencoder of digits: Dense(width, relu), Dense(32, relu), Dense(width, relu), Dense(784, sigmoid); mean
-- squared error; Adam. Timed on resident batches.
-- Band: three seeds train in float32, three in the row's precision; at each part of the curve the latter's mean may be
-- as far from the former's as the mean of three more float32 seeds would be in 95 % of all cases, and by 1 %.
-- TF32 rounds the operands of float32 products on GPUs. Whether it may is decided before a device is used, so that its
-- float32 seeds train on the CPU.
local gb = require "gpubench"

local seeds = { 1, 2, 3 }
local parts, steps_per_part = gb.quick and 4 or 8, 4
-- Student's t of 2 degrees of freedom at 97.5 %, for a difference of two means of three.
local half_width_in_deviations = 4.303 * math.sqrt(2 / 3)
local least_half_width = 0.01
local widths, batches = gb.quick and { 64, 256 } or { 256, 1024 }, { 128, 2048 }
local narrowest, widest, largest = widths[1], widths[#widths], batches[#batches]
-- Steps settle late where they are long.
local warmup_s = gb.quick and 0.1 or 2

local policies = {
  float32 = { policy = "float32" },
  mixed_bfloat16 = { policy = "mixed_bfloat16" },
  mixed_float16 = { policy = "mixed_float16" },
  mixed_float16_unscaled = { policy = "mixed_float16", auto_scale_loss = false },
  tf32 = { policy = "float32" },
}
-- Step times in float32, by the other axes.
local float32_times = {}

local function build(precision, width, seed)
  gb.config.set_seed(seed)
  gb.config.set_dtype_policy(policies[precision].policy)
  local model = gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 } }),
    gb.layers.Dense(32, { activation = "relu" }),
    gb.layers.Dense(width, { activation = "relu" }),
    gb.layers.Dense(784, { activation = "sigmoid" }),
  }
  model:compile {
    optimizer = "adam", loss = "mean_squared_error", auto_scale_loss = policies[precision].auto_scale_loss,
  }
  return model
end

local function input(batch_size, seed)
  local digits = gb.datasets.mnist("train"):map(function(image) return image, image end)
  return digits:shuffle(10000, { seed = seed }):batch(batch_size, { drop_remainder = true }):repeated()
end

-- The mean over the seeds, and their deviation, at each part of the curve.
local function curve(precision, width, batch_size)
  local losses = {}
  for part = 1, parts do losses[part] = {} end
  for _, seed in ipairs(seeds) do
    local history = build(precision, width, seed):fit(input(batch_size, seed), {
      epochs = parts, steps_per_epoch = steps_per_part, verbose = 0,
    })
    for part, loss in ipairs(history.history.loss) do table.insert(losses[part], loss) end
  end
  local means, deviations = {}, {}
  for part, own in ipairs(losses) do
    local sum, squares = 0, 0
    for _, loss in ipairs(own) do sum = sum + loss end
    for _, loss in ipairs(own) do squares = squares + (loss - sum / #own) ^ 2 end
    means[part], deviations[part] = sum / #own, math.sqrt(squares / (#own - 1))
  end
  return means, deviations
end

local function key_of(point)
  return table.concat({ point.device, point.width, point.batch_size }, " ")
end

-- The curve of a precision at the point's other axes, whose seeds are those of all rounds.
local function curve_of(point, precision)
  return gb.once(key_of(point) .. " " .. precision, function()
    return gb.device(point.device, function()
      local means, deviations = curve(precision, point.width, point.batch_size)
      return { means = means, deviations = deviations }
    end)
  end)
end

-- The curve of float32 with which the point's is compared.
local function reference_of(point)
  local device = point.precision == "tf32" and "cpu:0" or point.device
  return curve_of({ device = device, width = point.width, batch_size = point.batch_size }, "float32")
end

-- How far a curve is from the reference, in half-widths of its band, where it is farthest; nil where it is no number.
local function gap(means, reference)
  local farthest = 0
  for part, mean in ipairs(means) do
    if mean ~= mean then return nil end
    local expected = reference.means[part]
    local half_width = math.max(half_width_in_deviations * reference.deviations[part], least_half_width * expected)
    farthest = math.max(farthest, math.abs(mean - expected) / half_width)
  end
  return farthest
end

local function verdict(row, float32_time)
  if row.loss_gap and row.loss_gap <= 1 then return nil end
  local fast = float32_time and row.step_time_s < float32_time
  local how = row.loss_gap and string.format("its loss is %.1f half-widths of float32's band from it", row.loss_gap)
    or "its loss is no number"
  return (fast and "fast but wrong: " or "wrong: ") .. how
end

-- How much faster the product of the widest layer is in bfloat16.
local function product_gain(point)
  local shape = { op = "matmul", m = point.batch_size, n = point.width, k = 784 }
  local narrow = { op = "matmul", m = point.batch_size, n = point.width, k = 784, dtype = "bfloat16" }
  local rows = gb.measure.kernels { shape, narrow, device = point.device }
  return rows[2].flops_per_s / rows[1].flops_per_s
end

-- Gains of the step and of the bare product, at the widest layers and largest batch.
local function judge_speed(rows)
  local reference, worst, reasons, gains = {}, nil, {}, {}
  for _, row in ipairs(rows) do
    if row.precision == "float32" then reference[row.device] = row end
  end
  for _, row in ipairs(rows) do
    if row.precision == "mixed_bfloat16" and reference[row.device] then
      local product, why = gb.expect.figure(row, "product_gain")
      local step, why_step = gb.expect.compare(reference[row.device], row, "step_time_s")
      if not product or not step then return "inconclusive", why or why_step end
      reasons[#reasons + 1] = string.format("%s: the step %.2f times as fast [%.2f, %.2f], "
        .. "its widest product %.2f times",
        row.device, step.value, step.low, step.high, product.value)
      gains[#gains + 1] = string.format("a step is %.3g times [%.3g, %.3g] as fast as in float32 (%s)",
        step.value, step.low,
        step.high, row.device)
      -- The rest of a step, its updates above all, is no faster.
      if product.low >= 1.5 then
        worst = step.high < 1.2 and "refuted" or step.low < 1.2 and worst ~= "refuted" and "inconclusive" or worst
          or "confirmed"
      elseif product.high >= 1.5 then
        worst = worst or "inconclusive"
      end
    end
  end
  local reason = table.concat(reasons, "; ")
  if #reasons == 0 then return "inconclusive", "no rows at the widest layers and largest batch" end
  if not worst then return "not measurable here", "no device is faster in bfloat16; " .. reason end
  return worst, reason, "Use mixed_bfloat16: with the widest layers and the largest batch " .. table.concat(gains, "; ")
end

-- The loss stays in float32's band.
local function stays_in_band(precision, claim, answer)
  return gb.expect.at_most {
    y = "loss_gap", value = 1, where = { precision = precision }, claim = claim, answer = answer,
  }
end

-- At least as fast as float32, with the widest layers and the largest batch.
local function is_no_slower(precision, claim, answer)
  return gb.expect.ratio {
    y = "examples_per_s", of = { precision = precision }, over = { precision = "float32" },
    where = { width = widest, batch_size = largest }, at_least = 1, claim = claim, answer = answer,
  }
end

gb.experiment {
  name  = "mixed_precision",
  topic = "precision",
  title = "Arithmetic in 16 bits, and TF32: what it gains, and whether the model still learns the same",
  question = "What does arithmetic in 16 bits or in TF32 gain, and does the model still learn the same?",
  cause    = "Float32 everywhere, where the device has faster units for 16 bits and memory is short.",
  remedy   = "Mixed_bfloat16; or mixed_float16 with its loss scaled, where the device computes in it: float32 weights, "
    .. "16-bit layers. On GPUs from Ampere on also TF32, which rounds what float32 products read and keeps all types.",
  reading  = "Examples/s, memory of a step as it is planned, and how far the loss is from float32's, over the batch: "
    .. "below 100 % it is no further away than other seeds of float32 are.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("width", widths),
    gb.axis("batch_size", batches),
    gb.axis("precision", { "float32", "mixed_bfloat16", "mixed_float16", "mixed_float16_unscaled", "tf32" },
      { closed = true }),
  },
  columns = {
    gb.column("product_gain", { kind = "time", better = "higher" }), "final_loss", "step_memory_bytes",
    gb.column("loss_gap", { kind = "counted", better = "lower", unit = "share" }), "skipped_steps",
  },
  -- Three trainings beside the measurement; making their input takes longest, and each fills a buffer first.
  seconds = function(point, measurement_s)
    local examples = #seeds * (10000 + parts * steps_per_part * point.batch_size)
    return measurement_s + warmup_s + 25e-6 * examples
  end,
  skip = function(point)
    if point.precision == "tf32" and not point.device:find "^gpu" then
      return "TF32 is arithmetic of NVIDIA's GPUs from Ampere on"
    end
  end,
  run = function(point)
    if point.precision == "tf32" then gb.config.set_tf32(true) end
    local reference = reference_of(point)
    return gb.device(point.device, function()
      local model = build(point.precision, point.width, 1)
      local planned = model:memory(point.batch_size).total
      local row = gb.measure.training(model, input(point.batch_size, 1), { resident = true, warmup = warmup_s })
      row.step_memory_bytes = planned
      if point.precision == "float32" then
        float32_times[key_of(point)] = row.step_time_s
        row.final_loss = reference.means[parts]
        return row
      end
      local means = curve_of(point, point.precision).means
      row.loss_gap = gap(means, reference)
      if means[parts] == means[parts] then row.final_loss = means[parts] end
      row.verdict = verdict(row, float32_times[key_of(point)])
      if point.precision == "mixed_bfloat16" then row.product_gain = product_gain(point) end
      return row
    end)
  end,
  charts = {
    gb.chart.line {
      x = "batch_size", y = "examples_per_s", series = "precision", where = { width = widest }, log_x = 2, log_y = 10,
    },
    gb.chart.line {
      x = "batch_size", y = "step_memory_bytes", series = "precision", where = { width = widest },
      log_x = 2, log_y = 10,
    },
    gb.chart.line {
      x = "batch_size", y = "loss_gap", series = "precision", where = { width = narrowest }, log_x = 2, log_y = 10,
    },
  },
  expect = {
    gb.expect.that {
      claim = "where the bare product is at least 1.5 times as fast in bfloat16, the widest step is at least 1.2 times",
      judge = judge_speed, reads = { "step_time_s", "product_gain" }, where = { width = widest, batch_size = largest },
    },
    gb.expect.ratio {
      y = "step_memory_bytes", of = { precision = "mixed_bfloat16" }, over = { precision = "float32" },
      where = { width = widest, batch_size = largest }, at_most = 1,
      claim = "with wide layers and a large batch, mixed_bfloat16 takes less memory",
      answer = "With mixed_bfloat16 a step takes {less} less memory",
    },
    stays_in_band("mixed_bfloat16", "mixed_bfloat16 stays in the band of float32",
      "The model learns the same: with mixed_bfloat16 its loss changes by at most {most} of what another seed changes"),
    stays_in_band("mixed_float16", "mixed_float16 with its loss scaled stays in the band of float32"),
    gb.expect.at_least {
      y = "loss_gap", value = 1,
      where = { precision = "mixed_float16_unscaled", width = narrowest, batch_size = largest },
      claim = "float16 without loss scaling leaves the band with narrow layers and a large batch",
      answer = "In float16 keep the loss scaled: without it the loss moves by {of} of that distance",
    },
    is_no_slower("mixed_float16", "mixed_float16 is at least as fast as float32",
      "Mixed_float16 trains {times} as many examples a second as float32"),
    is_no_slower("tf32", "with TF32 a GPU is at least as fast as in float32",
      "gb.config.set_tf32(true) trains {times} as many examples a second as float32"),
    stays_in_band("tf32", "TF32 stays in the band of float32"),
  },
}
