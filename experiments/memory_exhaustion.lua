-- The limit stands for a device's memory, so that it ends alike everywhere. Where there is no GPU, the device is the
-- second of two parts of the CPU, and the first stands for the host. mixed_bfloat16 changes what is computed, the
-- others do not. `limit_ratio` is the device's peak of memory in use over the limit; peak_memory_bytes has the host's
-- part in it.
local gb = require "gpubench"

local limit = 48 << 20
local features, width, parts = 64, 512, 4

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
  if device:find "^gpu" then
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

-- What trains the large batch, and how fast.
local function remedies_that_fit(rows)
  local fitting = {}
  for _, row in ipairs(rows) do
    if row.asked_batch_size == 4096 and row.status == "ok" and row.remedy ~= "none" then
      fitting[#fitting + 1] = row.examples_per_s
        and string.format("%s (%s examples/s)", row.remedy, gb.format.si(row.examples_per_s)) or row.remedy
    end
  end
  local none = row_of(rows, 4096, "none")
  if not none or none.status ~= "out_of_memory" or #fitting == 0 then return nil end
  return "The batch of 4096 runs out of memory; it trains within the limit with " .. table.concat(fitting, ", ")
end

gb.experiment {
  name  = "memory_exhaustion",
  topic = "memory",
  title = "Out of memory, and what helps",
  answer = remedies_that_fit,
  question = "A model, its activations and gradients exceed the device's memory: what helps, and what does it cost?",
  cause    = "A batch whose activations, with weights, gradients and the optimizer's slots, need more than there is.",
  remedy   = "A smaller batch; accumulation, which keeps the batch and computes it in parts; recomputation, which "
    .. "computes activations again instead of keeping them; offload, which lets them wait in the host's memory; "
    .. "mixed precision, which halves activations.",
  reading  = "The peak of the device's memory, and examples in a second, by remedy, for a batch that fits and one "
    .. "that does not.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("asked_batch_size", { 1024, 4096 }),
    gb.axis("remedy", { "none", "smaller batch", "accumulation", "recomputation", "offload", "mixed_bfloat16" }, { closed = true }),
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
    gb.expect.ratio {
      y = "limit_ratio", of = { remedy = "accumulation" }, over = { remedy = "none" }, where = { asked_batch_size = 1024 },
      at_most = 0.9, claim = "accumulation lowers the peak of a batch that fits too",
    },
  },
}
