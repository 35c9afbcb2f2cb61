-- Bars of input pipelines that need no peer: speed-ups by workers, the cost of an empty map, and training beside a
-- pipeline that works. Medians of rounds in turn (A B B A ...).
--
--   gpubench tests/bench/pipelines.lua
local gb = require "gpubench"

local Dataset = gb.data.Dataset
local rounds, seconds = 5, 1.0

local function median(values)
  table.sort(values)
  return values[(#values + 1) // 2]
end

--- Each measurement once forwards, once backwards, and so on.
local function medians(measurements)
  local samples = {}
  for i = 1, #measurements do samples[i] = {} end
  for round = 1, rounds do
    for k = 1, #measurements do
      local i = round % 2 == 1 and k or #measurements + 1 - k
      table.insert(samples[i], measurements[i]())
    end
  end
  for i = 1, #measurements do samples[i] = median(samples[i]) end
  return table.unpack(samples)
end

local function rate_of(dataset)
  return gb.measure.pipeline(dataset, { budget = seconds, min_time = seconds }).elements_per_s
end

local digits = gb.datasets.mnist("train", { flatten = false })

local function costly(workers)
  return function()
    return rate_of(digits:map(function(image, label)
      local large = gb.image.resize(image, { 112, 112 })
      return gb.image.resize(large:sqrt() * large, { 28, 28 }), label
    end, { num_parallel_calls = workers }):batch(32):prefetch(4))
  end
end
local one, two = medians { costly(1), costly(2) }
print(string.format("costly map: 1 worker %.0f batches/s, 2 workers %.0f: %.2f times (bar 1.8)", one, two, two / one))

local function waiting(workers)
  return function()
    local files = Dataset.range(1024)
    return rate_of(files:interleave(function()
      return Dataset.range(16):throttle { latency = 1e-3 }
    end, { cycle_length = 8, num_parallel_calls = workers }))
  end
end
local alone, eight = medians { waiting(1), waiting(8) }
print(string.format("waiting source: 1 worker %.0f elements/s, 8 workers %.0f: %.2f times (bar 7)", alone, eight,
  eight / alone))

local function empty(workers)
  return function()
    return rate_of(Dataset.range(1 << 40):map(function(i) return i end, { num_parallel_calls = workers }):batch(1024))
  end
end
local nothing = medians { empty(gb.AUTOTUNE) }
print(string.format("empty parallel map and batch: %.0f ns an element (bar 100)", 1e9 / (nothing * 1024)))

-- One core's work may not slow down another's: what takes P alone and S alone takes at most P + S together.
local function images()
  return gb.datasets.mnist("train"):shuffle(10000):map(function(image, label)
    local noisy = image
    for _ = 1, 4 do noisy = (noisy + 0.1):sqrt():exp():log() end
    return noisy, label
  end, { num_parallel_calls = gb.AUTOTUNE }):batch(128):prefetch(gb.AUTOTUNE)
end
local model = gb.Sequential {
  gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
  gb.layers.Dense(10, { activation = "softmax" }),
}
model:compile { optimizer = "adam", loss = "categorical_crossentropy" }
local limits = { budget = seconds, min_time = seconds, warmup = 1.0 }
local pipeline, step, together = medians {
  function() return 1 / rate_of(images()) end,
  function()
    local row = gb.measure.training(model, images(), { budget = seconds, min_time = seconds, resident = true })
    return row.batch_size / row.examples_per_s
  end,
  function()
    local row = gb.measure.training(model, images(), limits)
    return row.batch_size / row.examples_per_s
  end,
}
print(string.format("a batch's pipeline alone %.0f us, step alone %.0f us, both %.0f us: %.2f of their sum (bar 1.1)",
  pipeline * 1e6, step * 1e6, together * 1e6, together / (pipeline + step)))
