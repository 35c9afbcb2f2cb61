-- Bars of precision and memory that need no peer: the step in bfloat16, inference in int8, accumulated gradients,
-- recomputed activations, and planned against least memory. Two variants take turns (A B B A ...); each counts by its
-- fastest round, because other work on the machine only slows down.
--
--   gpubench tests/bench/precision_and_memory.lua
local gb = require "gpubench"

local rounds = 4
local misses = 0

local function judged(value, bar, met)
  if not met then misses = misses + 1 end
  return string.format("%.2f (bar %g): %s", value, bar, met and "met" or "MISSED")
end

--- The fastest round of each.
local function fastest(first, second)
  local times = { math.huge, math.huge }
  for round = 1, rounds do
    for turn = 1, 2 do
      local which = (round + turn) % 2 + 1
      times[which] = math.min(times[which], (which == 1 and first or second)())
    end
  end
  return table.unpack(times)
end

local function dense(width, layers)
  local list = {}
  for i = 1, layers do
    list[i] = gb.layers.Dense(width, { activation = "relu", input_shape = i == 1 and { 784 } or nil })
  end
  list[layers + 1] = gb.layers.Dense(10, { activation = "softmax" })
  return gb.Sequential(list)
end

local function convolutional()
  return gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(32, 3, { activation = "relu" }),
    gb.layers.MaxPooling2D(2),
    gb.layers.Flatten(),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

local function compiled(model, options)
  local config = { optimizer = "adam", loss = "categorical_crossentropy" }
  for name, value in pairs(options or {}) do config[name] = value end
  model:compile(config)
  return model
end

local function step_time(model, batch_size)
  local batches = gb.datasets.mnist("train"):batch(batch_size, { drop_remainder = true }):take(2)
  return function()
    return gb.measure.training(model, batches,
      { resident = true, warmup = 0.3, budget = 3, min_time = 1.5 }).step_time_s
  end
end

local function report_arena(name, memory)
  local ratio = memory.arena / memory.lower_bound
  print(string.format("%s: arena of %.1f MiB, by its lower bound: %s", name, memory.arena / 2 ^ 20,
    judged(ratio, 1.05, ratio <= 1.05)))
end

-- Wide M2: three layers of 4096 on digits.
do
  local narrow = compiled(dense(4096, 3))
  gb.config.set_dtype_policy("mixed_bfloat16")
  local mixed = compiled(dense(4096, 3))
  gb.config.set_dtype_policy("float32")
  local single, half = fastest(step_time(narrow, 512), step_time(mixed, 512))
  local function product(dtype)
    return function()
      local rows = gb.measure.kernels { { op = "matmul", m = 512, n = 4096, k = 4096, dtype = dtype },
        device = "cpu:0" }
      return 1 / rows[1].flops_per_s
    end
  end
  local single_product, half_product = fastest(product "float32", product "bfloat16")
  print(string.format("wide M2, batch 512: float32 %.0f ms, mixed_bfloat16 %.0f ms: %s; the bare product %.2f",
    single * 1e3, half * 1e3, judged(single / half, 1.6, single / half >= 1.6),
    single_product / half_product))
end
collectgarbage()

-- The same model asked, in int8: calibrated on training digits that it was not trained on, judged on the test digits.
do
  local digits = gb.datasets.mnist "train"
  local model = dense(4096, 3)
  model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
  model:fit(digits:take(40000):shuffle(10000, { seed = 1 }):batch(256), { epochs = 1, verbose = 0 })
  local small = gb.quantize.int8(model, { calibration = digits:skip(59000):batch(100) })
  small:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
  local test = gb.datasets.mnist("test"):batch(500)
  local lost = 100 * (model:evaluate(test).accuracy - small:evaluate(test).accuracy)
  local function answering(of)
    return function()
      local row = gb.measure.inference(of,
        { batch = 512, mode = "offline", duration = 1.5, input = gb.datasets.mnist "test" })
      return 512 / row.examples_per_s
    end
  end
  local single, int8 = fastest(answering(model), answering(small))
  print(string.format("wide M2 asked, batch 512: float32 %.0f ms, int8 %.0f ms: %s; points lost %s",
    single * 1e3, int8 * 1e3,
    judged(single / int8, 2, single / int8 >= 2), judged(lost, 0.5, lost <= 0.5)))
end
collectgarbage()

-- Four parts of a batch against the whole.
for _, case in ipairs {
  { "M1", function() return dense(128, 1) end, 128 }, { "M1", function() return dense(128, 1) end, 512 },
  { "M3", convolutional, 64 }, { "M3", convolutional, 256 },
  { "wide M2", function() return dense(4096, 3) end, 512 }, { "wide M2", function() return dense(4096, 3) end, 2048 },
} do
  local name, build, batch_size = table.unpack(case)
  local whole, parts = compiled(build()), compiled(build(), { gradient_accumulation_steps = 4 })
  local undivided, divided = whole:memory(batch_size), parts:memory(batch_size)
  local share = divided.peak_activations / undivided.peak_activations
  local once, four = fastest(step_time(whole, batch_size), step_time(parts, batch_size))
  local label = string.format("%s, batch %d", name, batch_size)
  print(string.format("%s in 4 parts: %.2f against %.2f ms: %s; activations %s", label, four * 1e3, once * 1e3,
    judged(four / once, 1.05, four / once <= 1.05), judged(share, 0.25, share < 0.255)))
  report_arena(label, undivided)
  report_arena(label .. " in 4 parts", divided)
  whole, parts = nil, nil
  collectgarbage()
end

-- 20 layers, every fourth one's activations kept.
do
  local dropped = {}
  local function deep()
    local list = {}
    for i = 1, 20 do
      list[i] = gb.layers.Dense(512, {
        activation = "relu", name = "layer_" .. i, input_shape = i == 1 and { 784 } or nil,
      })
      if i % 4 ~= 0 then dropped[#dropped + 1] = "layer_" .. i end
    end
    list[21] = gb.layers.Dense(10, { activation = "softmax" })
    return gb.Sequential(list)
  end
  local kept = compiled(deep())
  dropped = {}
  local model = deep()
  local again = compiled(model, { recompute = dropped })
  local before, after = kept:memory(1024), again:memory(1024)
  local share = after.peak_activations / before.peak_activations
  local once, twice = fastest(step_time(kept, 1024), step_time(again, 1024))
  print(string.format("20 layers recomputed: %.1f against %.1f ms: %s; activations %s", twice * 1e3, once * 1e3,
    judged(twice / once, 1.35, twice / once <= 1.35), judged(share, 0.5, share <= 0.5)))
  report_arena("20 layers", before)
  report_arena("20 layers recomputed", after)
end

print(misses == 0 and "all bars met" or misses .. " missed")
