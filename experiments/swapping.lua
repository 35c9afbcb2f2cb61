-- `size_over_limit` is what a step takes that keeps everything, over the limit of the device; the batch is made so
-- large. The prediction: an example takes the time it takes where everything fits (on the same device, in the same
-- point), and its offloaded bytes twice cross the link at the best rate of gb.measure.copies. On a GPU both go on at
-- the same time, with a third of the work in the forward pass: each pass takes the longer of the two. On a CPU they
-- follow one another. Without a GPU the device is one half of the CPU and the host the other half: the link is memory.
-- `agreement` is measured over predicted throughput.
local gb = require "gpubench"

local gpus = gb.config.list_physical_devices("GPU")
local on_gpu = #gpus > 0
local limit = on_gpu and 1 << 30 or 24 << 20
local width, depth, features = on_gpu and 1024 or 64, 24, 16
local link = on_gpu and gpus[1] or "cpu:0"
local unit = 256  -- batches are multiples of it

local function build(offload)
  local layers = {}
  for index = 1, depth do
    layers[index] = gb.layers.Dense(width, { activation = "relu", input_shape = index == 1 and { features } or nil })
  end
  layers[#layers + 1] = gb.layers.Dense(1)
  local model = gb.Sequential(layers)
  model:compile { optimizer = "sgd", loss = "mean_squared_error", offload = offload }
  return model
end

local function batches(size)
  local types = { "float32[" .. features .. "]", "float32[1]" }
  return gb.data.Dataset.synthetic { types = types, count = 4 * size }:batch(size, { drop_remainder = true })
end

-- The largest batch whose step takes no more than `bytes` when it keeps everything.
local function batch_within(bytes)
  local model = build(false)
  local one, two = model:memory(unit).total, model:memory(8 * unit).total
  local batch_size = math.max(1, math.floor((bytes - one) / ((two - one) / 7)) + 1) * unit
  while batch_size > unit and model:memory(batch_size).total > bytes do batch_size = batch_size - unit end
  return batch_size, model:memory(batch_size).total
end

-- Seconds that an example takes where everything fits, without the input: the median step, and its interval.
local function seconds_kept(batch_size)
  local row = gb.measure.training(build(false), batches(batch_size), { resident = true })
  local low, high = row.step_time_low_s or row.step_time_s, row.step_time_high_s or row.step_time_s
  return { row.step_time_s / batch_size, low / batch_size, high / batch_size }
end

local function seconds_predicted(kept, bytes)
  local rates = gb.measure.copies(link)
  if not on_gpu then return kept + 2 * bytes / (rates.on_device_bytes_per_s / 2) end  -- a copy reads and writes
  return math.max(kept / 3, bytes / rates.from_device_bytes_per_s) + math.max(2 * kept / 3,
    bytes / rates.to_device_bytes_per_s)
end

local function row_of(rows, size, offload)
  for _, row in ipairs(rows) do
    if row.size_over_limit == size and row.offload == offload then return row end
  end
end

local sizes, largest_kept = { 0.5, 0.9, 1.5, 2, 3 }, 0.9

-- That `holds(row, size)` for the row of every size; `text_of(row)` says of each what is known.
local function each_size(offload, holds, text_of)
  return function(rows)
    local reasons = {}
    for _, size in ipairs(sizes) do
      local row = row_of(rows, size, offload)
      if not row then return "inconclusive", "the rows are not there" end
      reasons[#reasons + 1] = size .. ": " .. text_of(row)
      if not holds(row, size) then return "refuted", reasons[#reasons] end
    end
    return "confirmed", table.concat(reasons, ", ")
  end
end

-- Whether the intervals of `agreement` lie within a third, beyond the limit.
local function as_predicted(rows)
  local verdict, reasons = "confirmed", {}
  for _, size in ipairs(sizes) do
    local row = size > 1 and row_of(rows, size, true)
    if size > 1 and not row then return "inconclusive", "the rows are not there" end
    if row then
      local agreement, why = gb.expect.figure(row, "agreement")
      if not agreement then return "inconclusive", string.format("%g: %s", size, why) end
      reasons[#reasons + 1] = string.format("%g: %.2f [%.2f, %.2f]", size, agreement.value, agreement.low,
        agreement.high)
      if agreement.high < 3 / 4 or agreement.low > 4 / 3 then return "refuted", reasons[#reasons] end
      if agreement.low < 3 / 4 or agreement.high > 4 / 3 then verdict = "inconclusive" end
    end
  end
  return verdict, table.concat(reasons, ", ")
end

gb.experiment {
  name  = "swapping",
  topic = "memory",
  title = "What swapping activations to the host's memory costs",
  question = "What does it cost to train what does not fit into the device's memory, with the rest swapped to the "
    .. "host's?",
  cause    = "A batch whose activations exceed the device's memory; kept on the host, they cross the link twice in a "
    .. "step.",
  remedy   = "Stay inside the memory, where nothing has to move, by a smaller batch; or swap, if the answer says that "
    .. "it costs little.",
  reading  = string.format("Examples in a second, and how far that is from what is predicted, over the size of a step "
    .. "that keeps everything, as a multiple of the device's memory. %s Its use of that memory is limit_ratio; peak "
    .. "memory has the host's part in it.", on_gpu and string.format("The device has %d MiB.", limit >> 20)
      or string.format("The device (cpu:1) is half of the CPU with %d MiB, the other half is the host.", limit >> 20)),
  axes  = {
    gb.axis("size_over_limit", sizes),
    gb.axis("offload", { false, true }),
  },
  columns = {
    "predicted_examples_per_s", gb.column("agreement", { kind = "time" }), "limit_bytes",
    gb.column("limit_ratio", { kind = "memory" }),
  },
  -- With offload, what fits is measured before and after it; without, larger batches run out of memory at once.
  seconds = function(point, measurement_s)
    if point.offload then return 3 * measurement_s + 1 end
    return point.size_over_limit > 1 and 0.1 or measurement_s + 0.5
  end,
  run = function(point)
    if on_gpu then
      gb.config.set_memory_limit(gpus[1], limit)
    else
      gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1, memory_limit = limit } })
    end
    local device = on_gpu and gpus[1] or "cpu:1"
    gb.measure.copies(link)  -- once, while the memory is free
    return gb.device(device, function()
      local batch_size = batch_within(math.floor(point.size_over_limit * limit))
      -- The same batch, where it fits; before and after, since machines have other work too.
      local fitting = point.offload and math.min(batch_size, (batch_within(math.floor(largest_kept * limit))))
      local before = fitting and seconds_kept(fitting)
      collectgarbage()
      local model = build(point.offload)
      local offloaded = model:memory(batch_size).offloaded
      local row = gb.measure.training(model, batches(batch_size), { resident = true })
      row.device, row.offloaded_bytes, row.limit_bytes = device, offloaded, limit
      row.limit_ratio = gb.config.memory_info(device).peak / limit  -- peak_memory_bytes has the host's part in it
      if not fitting then return row end
      model = nil
      collectgarbage()
      local after = seconds_kept(fitting)
      local seconds = {}
      for index = 1, 3 do
        seconds[index] = seconds_predicted((before[index] + after[index]) / 2, offloaded / batch_size)
      end
      row.predicted_examples_per_s = 1 / seconds[1]
      row.agreement = seconds[1] * batch_size / row.step_time_s
      if row.step_time_low_s and row.step_time_high_s then
        row.agreement_low = seconds[2] * batch_size / row.step_time_high_s
        row.agreement_high = seconds[3] * batch_size / row.step_time_low_s
      end
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "size_over_limit", y = "examples_per_s", series = "offload" },
    gb.chart.line { x = "size_over_limit", y = "copy_share", series = "offload" },
    gb.chart.line { x = "size_over_limit", y = "agreement", where = { offload = true } },
  },
  expect = {
    gb.expect.ratio {
      y = "examples_per_s", of = { size_over_limit = sizes[#sizes], offload = true },
      over = { size_over_limit = largest_kept, offload = false }, at_least = 2 / 3,
      claim = "swapping costs at most a third of the rate of the largest step that fits",
      answer = "Swap what does not fit: a step of " .. sizes[#sizes] .. " times the memory, which runs out of it, "
        .. "trains with swapping at {times} the rate of one of " .. largest_kept .. " times that keeps everything",
    },
    gb.expect.that {
      claim = "a step that keeps everything runs out of memory beyond the limit, and only there",
      judge = each_size(false, function(row, size)
        return row.status == (size > 1 and "out_of_memory" or "ok")
      end, function(row) return (row.status:gsub("_", " ")) end),
    },
    gb.expect.that {
      claim = "with activations offloaded every size trains within the limit",
      judge = each_size(true, function(row) return row.status == "ok" and row.limit_ratio <= 1 end, function(row)
        return row.status == "ok" and string.format("%.0f %% of the limit", 100 * row.limit_ratio) or row.status
      end),
    },
    gb.expect.that {
      claim = "beyond the limit, throughput is what link and memory predict, within a third",
      judge = as_predicted, reads = { "agreement" }, where = { offload = true },
    },
  },
}
