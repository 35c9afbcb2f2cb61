-- Two devices with a limit of memory each: halves of the CPU, or shares of the first GPU. The large model needs more
-- than one of them has, and less than both have together.
local gb = require "gpubench"

local MiB = 1 << 20
local limit = 64 * MiB
local has_gpu = #gb.config.list_physical_devices "GPU" > 0
local kind = has_gpu and "gpu" or "cpu"
local devices = { kind .. ":0", kind .. ":1" }
local batch_size = 64

local function layers_of(width)
  return {
    { width, { activation = "relu", input_shape = { 784 } } }, { width, { activation = "relu" } },
    { width, { activation = "relu" } }, { width, { activation = "relu" } }, { 10, { activation = "softmax" } },
  }
end

-- The first `first` layers on one device and the rest on the other.
local function build(width, first)
  local layers = {}
  for index, arguments in ipairs(layers_of(width)) do
    layers[index] = gb.device(devices[index > first and 2 or 1],
      function() return gb.layers.Dense(table.unpack(arguments)) end)
  end
  local model = gb.Sequential(layers)
  model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
  return model
end

local makers = {
  ["one device"] = function(width) return build(width, 5) end,
  mirrored = function(width)
    local strategy = gb.distribute.MirroredStrategy { devices = devices, cross_device = "local" }  -- shares of one GPU
    return strategy:scope(function() return build(width, 5) end)
  end,
  ["layers divided"] = function(width) return build(width, 2) end,
}

local function status_of(rows, model_size)
  local statuses = {}
  for _, row in ipairs(rows) do
    if row.model == model_size then statuses[row.training] = row.status end
  end
  return statuses
end

-- The large model fits where its layers are divided, and nowhere else; the small one fits everywhere.
local function only_divided(rows)
  local small, large, texts, divided = status_of(rows, "small"), status_of(rows, "large"), {}, nil
  local expected = { ["one device"] = "out_of_memory", mirrored = "out_of_memory", ["layers divided"] = "ok" }
  local holds, known = true, true
  for _, training in ipairs { "one device", "mirrored", "layers divided" } do
    known = known and small[training] and large[training]
    holds = holds and small[training] == "ok" and large[training] == expected[training]
    texts[#texts + 1] = string.format("%s: %s", training, large[training])
  end
  if not known then return "inconclusive", "the rows are not there" end
  local reason = "the large model, " .. table.concat(texts, ", ")
  if not holds then return "refuted", reason end
  for _, row in ipairs(rows) do
    if row.model == "large" and row.training == "layers divided" then divided = row.used_bytes end
  end
  return "confirmed", reason, string.format("Divide the layers of a model that is too large for one device among "
    .. "several: two with %d MiB each train the large one, which takes %.0f MiB of the fuller device; mirrored "
    .. "training runs out of memory as one device does", limit // MiB, divided / MiB)
end

gb.experiment {
  name  = "replica_memory",
  topic = "memory",
  title = "Mirrored training makes no room for a larger model",
  question = "The model does not fit one GPU: does mirrored training on two of them help?",
  cause    = "Every replica holds the whole model: all weights, their gradients and the optimizer's state. Replicas "
    .. "divide batches, not models.",
  remedy   = "Layers divided among the devices; or less memory on each, by accumulation, recomputation, offload or "
    .. "mixed precision (experiment memory_exhaustion).",
  reading  = string.format("Memory of the fullest device, by kind of training: mirrored training takes as much of each "
    .. "device as training on one; divided layers take less. The devices are two %s, with %d MiB each.",
    has_gpu and "shares of the first GPU" or "halves of the CPU", limit // MiB),
  axes  = {
    gb.axis("model", { "small", "large" }, { closed = true }),
    gb.axis("training", { "one device", "mirrored", "layers divided" }, { closed = true }),
  },
  -- state_bytes: weights and the optimizer's state on the device that holds most of them.
  columns = { gb.column("state_bytes", { kind = "memory" }), gb.column("used_bytes", { kind = "memory" }) },
  seconds = function() return 0.3 end,
  run = function(point)
    local share = { memory_limit = limit }
    if not has_gpu then share.threads = math.max(1, gb.config.cpu_threads() // 2) end
    gb.config.set_logical_devices(devices[1], { share, share })
    local width = point.model == "small" and 512 or 1280
    local model = makers[point.training](width)
    model:fit(gb.datasets.mnist("train"):batch(batch_size):take(2), { verbose = 0 })
    local row = { state_bytes = 0, used_bytes = 0, detail = "no shares: fit trains, and no step is traced" }
    for _, device in ipairs(gb.memory.report(model).step.devices) do
      row.state_bytes = math.max(row.state_bytes, device.variables + device.optimizer)
    end
    for _, device in ipairs(devices) do
      row.used_bytes = math.max(row.used_bytes, gb.config.memory_info(device).peak)
    end
    return row
  end,
  charts = {
    gb.chart.bar { x = "training", y = "used_bytes", series = "model" },
    gb.chart.bar { x = "training", y = "state_bytes", series = "model" },
  },
  expect = {
    gb.expect.that {
      claim = "a model too large for one device fits where its layers are divided, not where it is mirrored",
      judge = only_divided,
    },
    gb.expect.ratio {
      y = "state_bytes", of = { training = "mirrored" }, over = { training = "one device" },
      where = { model = "small" },
      at_least = 0.99, claim = "each replica holds all weights and all of the optimizer's state",
      answer = "With the small model each replica holds {of} of weights and optimizer state, "
        .. "training on one device {over}",
    },
    gb.expect.ratio {
      y = "state_bytes", of = { training = "layers divided" }, over = { training = "one device" },
      where = { model = "small" }, at_most = 0.75,
      claim = "divided layers leave at most three quarters of them on one device",
    },
  },
}
