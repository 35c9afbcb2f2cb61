-- The limit stands for a device's memory, so that it ends alike everywhere. Where there is no GPU, the device is the
-- second of two parts of the CPU, and the first stands for the host. mixed_bfloat16 changes what is computed, the
-- others do not. `limit_ratio` is the device's peak of memory in use over the limit; peak_memory_bytes has the host's
-- part in it.
local gb = require "gpubench"

-- With --quick, layers and limit are a quarter as large, so that every remedy gets its rounds.
local limit, width = 48 << 20, 512
if gb.quick then limit, width = 12 << 20, 128 end
local features, parts = 64, 4

local function build(remedy)
  gb.config.set_dtype_policy(remedy == "mixed_bfloat16" and remedy or "float32")
  local layers = {}
  for index = 1, 4 do
    layers[index] = gb.layers.Dense(width, { activation = "relu", input_shape = index == 1 and { features } or nil })
  end
  layers[#layers + 1] = gb.layers.Dense(1)
  local model = gb.Sequential(layers)
  gb.config.set_dtype_policy "float32"
  model:compile {
    optimizer = "adam", loss = "mean_squared_error",
    gradient_accumulation_steps = remedy == "accumulation" and parts or 1,
    offload = remedy == "offload",
    recompute_budget = remedy == "recomputation" and limit - (2 << 20) or nil,  -- pools hand out whole blocks
  }
  return model
end

-- The device that a point is about, with the limit.
local function limited(device)
  if not device:find "^cpu" then
    gb.config.set_memory_limit(device, limit)
    return device
  end
  gb.config.set_logical_devices(device, { { threads = 1 }, { memory_limit = limit } })
  return "cpu:1"
end

local function examples()
  return gb.data.Dataset.synthetic { types = { "float32[" .. features .. "]", "float32[1]" }, count = 8192 }
end

local function row_of(rows, batch_size, remedy)
  for _, row in ipairs(rows) do
    if row.asked_batch_size == batch_size and row.remedy == remedy then return row end
  end
end

local function fits(remedy, claim)
  return gb.expect.that {
    claim = claim,
    judge = function(rows)
      local row = row_of(rows, 4096, remedy)
      if not row then return "inconclusive", "the row is not there" end
      if row.status ~= "ok" then return "refuted", row.status end
      local reason = string.format("%.1f %% of the limit", 100 * row.limit_ratio)
      return row.limit_ratio <= 1 and "confirmed" or "refuted", reason
    end,
  }
end

-- These keep the batch, and what is computed.
local keep_the_batch = { "accumulation", "recomputation", "offload" }

-- How fast a remedy trains the large batch, as a share of the rate of the smaller batch; nil and why where that is not
-- known.
local function speed_of(rows, remedy)
  local row, smaller = row_of(rows, 4096, remedy), row_of(rows, 4096, "smaller batch")
  if not row or not smaller then return nil, "the rows are not there" end
  return gb.expect.compare(row, smaller, "examples_per_s")
end

-- Of those that may be as fast as the fastest, the one that takes least memory.
local function fastest(rows)
  local speeds, most, chosen, why = {}, 0, nil, nil
  for _, remedy in ipairs(keep_the_batch) do
    local reason
    speeds[remedy], reason = speed_of(rows, remedy)
    most, why = math.max(most, speeds[remedy] and speeds[remedy].low or 0), why or reason
  end
  for _, remedy in ipairs(keep_the_batch) do
    local is_fast = speeds[remedy] and speeds[remedy].high >= most
    if is_fast and (not chosen or row_of(rows, 4096, remedy).limit_ratio < row_of(rows, 4096, chosen).limit_ratio) then
      chosen = remedy
    end
  end
  return chosen, speeds[chosen or ""], why
end

local function is_cheap(rows)
  local remedy, speed, why = fastest(rows)
  if not remedy then return "inconclusive", why end
  local verdict = speed.low >= 0.5 and "confirmed" or speed.high < 0.5 and "refuted" or "inconclusive"
  return verdict,
    string.format("%s: %.3g times [%.3g, %.3g] the rate of the smaller batch", remedy, speed.value, speed.low,
    speed.high)
end

-- "49 %, 0.99 times [0.97, 1.01]": of the memory limit, and the rate of the smaller batch.
local function cost_of(rows, remedy)
  local speed = speed_of(rows, remedy)
  return string.format("%.0f %%", 100 * row_of(rows, 4096, remedy).limit_ratio),
    speed and string.format("%.3g times [%.3g, %.3g]", speed.value, speed.low, speed.high) or nil
end

local function is_fitting(rows, remedy)
  local row = row_of(rows, 4096, remedy)
  return row and row.status == "ok" and row.limit_ratio <= 1
end

-- The fastest remedy that keeps the batch, or the one that takes least memory where speeds are not known; then the
-- others.
local function what_helps(rows)
  local none, chosen = row_of(rows, 4096, "none"), (fastest(rows))
  if not none or none.status ~= "out_of_memory" then return nil end
  local fitting = {}
  for _, remedy in ipairs { "accumulation", "recomputation", "offload", "mixed_bfloat16" } do
    if is_fitting(rows, remedy) then fitting[#fitting + 1] = remedy end
  end
  if not chosen or not is_fitting(rows, chosen) then
    for _, remedy in ipairs(keep_the_batch) do
      local less = is_fitting(rows, remedy)
        and (not chosen or row_of(rows, 4096, remedy).limit_ratio < row_of(rows, 4096, chosen).limit_ratio)
      if less then chosen = remedy end
    end
  end
  if not chosen then return nil end
  local others = {}
  for _, remedy in ipairs(fitting) do
    local memory, speed = cost_of(rows, remedy)
    if remedy ~= chosen then
      others[#others + 1] = string.format("%s (%s%s)", remedy, memory, speed and ", " .. speed or "")
    end
  end
  local memory, speed = cost_of(rows, chosen)
  local first = string.format("Train the batch of 4096, which runs out of memory, with %s: it "
    .. "takes %s of the memory limit",
    chosen, memory)
  if speed then first = first .. " and reaches " .. speed .. " the examples/s of the smaller batch" end
  if #others == 0 then return first end
  return { first, "It fits with these too: " .. table.concat(others, ", ") }
end

gb.experiment {
  name  = "memory_exhaustion",
  topic = "memory",
  title = "Out of memory, and what helps",
  answer = what_helps,
  question = "A model, its activations and gradients exceed the device's memory: what helps, and what does it cost?",
  cause    = "A batch whose activations, with weights, gradients and the optimizer's slots, need more than there is.",
  remedy   = "A smaller batch; accumulation, which keeps the batch and computes it in parts; recomputation, which "
    .. "computes activations again instead of keeping them; offload, which lets them wait in the host's memory; "
    .. "mixed precision, which halves activations.",
  reading  = "The peak of the device's memory, and examples in a second, by remedy, for a batch that fits and one "
    .. "that does not. The limit ratio is the peak of the device's memory over its limit of " .. (limit >> 20)
    .. " MiB; peak memory includes what waits in the host's. Without a remedy the step ends in an error: nothing "
    .. "falls back to the CPU by itself, here as in TensorFlow and PyTorch. A training that is slow has another cause.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("asked_batch_size", { 1024, 4096 }),
    gb.axis("remedy", { "none", "smaller batch", "accumulation", "recomputation", "offload", "mixed_bfloat16" },
      { closed = true }),
  },
  columns = { "predicted_bytes", gb.column("limit_ratio", { kind = "memory" }) },
  -- Steps of such batches are long, and there are some before the first that counts.
  seconds = function(_, measurement_s) return measurement_s + 0.5 end,
  run = function(point)
    local device = limited(point.device)
    return gb.device(device, function()
      local model = build(point.remedy)
      local batch_size = point.remedy == "smaller batch" and point.asked_batch_size // parts or point.asked_batch_size
      local predicted = model:memory(batch_size)
      local row = gb.measure.training(model, examples():batch(batch_size))
      row.predicted_bytes, row.offloaded_bytes = predicted.total, predicted.offloaded
      row.limit_ratio = gb.config.memory_info(device).peak / limit
      return row
    end)
  end,
  charts = {
    gb.chart.bar { x = "remedy", y = "limit_ratio", series = "asked_batch_size", limit = 1 },
    gb.chart.bar { x = "remedy", y = "examples_per_s", series = "asked_batch_size" },
  },
  expect = {
    gb.expect.that {
      claim = "without a remedy the large batch runs out of memory, and the small one does not",
      judge = function(rows)
        local large, small = row_of(rows, 4096, "none"), row_of(rows, 1024, "none")
        if not large or not small then return "inconclusive", "the rows are not there" end
        local reason = "4096: " .. large.status .. ", 1024: " .. small.status
        return large.status == "out_of_memory" and small.status == "ok" and "confirmed" or "refuted", reason
      end,
    },
    fits("smaller batch", "a smaller batch trains within the limit"),
    fits("accumulation", "the large batch trains within the limit in four parts"),
    fits("recomputation", "the large batch trains within the limit when activations are computed again"),
    fits("offload", "the large batch trains within the limit when activations wait in the host's memory"),
    fits("mixed_bfloat16", "the large batch trains within the limit when layers compute in 16 bits"),
    gb.expect.that {
      claim = "one of the remedies that keep the batch trains at half the rate of a smaller batch, at least",
      judge = is_cheap, reads = { "examples_per_s" }, where = { asked_batch_size = 4096 },
    },
    gb.expect.ratio {
      y = "limit_ratio", of = { remedy = "accumulation" }, over = { remedy = "none" },
      where = { asked_batch_size = 1024 },
      at_most = 0.9, claim = "accumulation lowers the peak of a batch that fits too",
    },
  },
}
