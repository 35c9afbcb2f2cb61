-- Predictions against what is then used, the report afterwards, and the largest batch that fits.
local gb = require "gpubench"
local testing = require "testing"

local digits = gb.datasets.mnist "train"
local MiB = 1 << 20

local models = {
  dense = function()
    return { gb.layers.Dense(128, { activation = "relu", input_shape = { 784 } }),
             gb.layers.Dense(10, { activation = "softmax" }) }
  end,
  convolution = function()
    return { gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
             gb.layers.Conv2D(16, 3, { activation = "relu" }), gb.layers.BatchNormalization(),
             gb.layers.MaxPooling2D(2),
             gb.layers.Flatten(), gb.layers.Dropout(0.2), gb.layers.Dense(10, { activation = "softmax" }) }
  end,
}

local function build(kind, options)
  local model = gb.Sequential(models[kind]())
  options = options or {}
  options.optimizer, options.metrics = "adam", { "accuracy" }
  options.loss = options.loss or "categorical_crossentropy"
  -- On a GPU, plans of large batches time this fusion, which takes minutes where the CPU plays the GPU.
  options.passes = { fuse_bias_gradient = false }
  model:compile(options)
  return model
end

local function in_use()
  collectgarbage()
  return gb.config.memory_info().in_use
end

for kind in pairs(models) do
  for _, parts in ipairs { 1, 4 } do
    testing.case(kind .. " in " .. parts .. " parts: what was predicted is used", function()
      local before = in_use()
      local model = build(kind, { gradient_accumulation_steps = parts })
      local planned = model:memory(64)
      testing.is_true(planned.total > 0)
      model:fit(digits:batch(64), { steps_per_epoch = 2, verbose = 0 })
      local used = in_use() - before
      testing.is_true(math.abs(planned.total - used) <= 0.02 * used, planned.total .. " predicted, " .. used .. " used")
      local step = gb.memory.report(model).step
      testing.equal(step.total, planned.total)
    end)
  end
end

testing.case("kinds sum up to the arena, and layers to the kinds", function()
  local planned = build("dense"):memory(64)
  testing.equal(planned.gradients + planned.activations + planned.workspace, planned.lower_bound)
  local sums = {}
  for _, entry in ipairs(planned.devices[1].layers) do sums[entry.kind] = (sums[entry.kind] or 0) + entry.bytes end
  for kind, bytes in pairs(sums) do testing.equal(bytes, planned[kind]) end
  local slots = 2 * planned.gradients  -- Adam keeps two of each weight
  testing.is_true(math.abs(planned.optimizer - slots) < 0.05 * slots, "two slots")
  local device = planned.devices[1]
  testing.equal(device.timeline[device.peak_launch].bytes, planned.lower_bound)
  testing.contains(planned.text, "dense")
end)

testing.case("activations have a peak of their own", function()
  local function wide(parts)
    local model = gb.Sequential {
      gb.layers.Dense(512, { activation = "relu", input_shape = { 784 } }),
      gb.layers.Dense(512, { activation = "relu" }),
      gb.layers.Dense(512, { activation = "relu" }),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    model:compile { optimizer = "adam", loss = "categorical_crossentropy", gradient_accumulation_steps = parts }
    return model:memory(256)
  end
  -- Most is in use when the gradients of wide weights are there, and some activations may have gone.
  local whole, parts = wide(1), wide(4)
  testing.is_true(whole.activations <= whole.peak_activations)
  -- Those of three layers, and at most the gradient of one; what the loss keeps is small.
  local layer = 256 * 512 * 4
  testing.is_true(whole.peak_activations > 3 * layer and whole.peak_activations < 4.1 * layer,
    tostring(whole.peak_activations))
  local quarter = whole.peak_activations / 4
  testing.is_true(math.abs(parts.peak_activations - quarter) < 0.05 * quarter, tostring(parts.peak_activations))
end)

testing.case("accumulation in four parts holds a quarter of the activations", function()
  local whole, parts = build("convolution"):memory(256),
    build("convolution", { gradient_accumulation_steps = 4 }):memory(256)
  testing.is_true(parts.activations < 0.27 * whole.activations, parts.activations .. " of " .. whole.activations)
end)

testing.case("a dataset of batches tells its own types", function()
  local model = build("dense", { loss = "sparse_categorical_crossentropy" })
  local sparse = gb.datasets.mnist("train", { one_hot = false })
  testing.equal(model:memory(sparse:batch(64)).total, model:memory(64).total)
end)

testing.case("what cannot be predicted says why", function()
  local model = build "dense"
  testing.raises("a batch size from 1 to 2147483647 is expected, got 0", model.memory, model, 0)
  local eager = build("dense", { run_eagerly = true })
  testing.raises("it is compiled for eager execution", eager.memory, eager, 64)
  local open = gb.Sequential { gb.layers.Dense(2) }
  testing.raises("has not been compiled", open.memory, open, 64)
  open:compile { optimizer = "sgd", loss = "mean_squared_error" }
  testing.raises("its input is not known yet; give the first layer an input_shape", open.memory, open, 64)
  testing.raises("has not been trained yet; model:memory(batch_size) predicts", gb.memory.report, model)
end)

testing.case("a report without a model tells of the pools", function()
  local tensor = gb.ones { 1024 }
  local pool = gb.memory.report().devices[1]
  testing.equal(pool.device, gb.device())
  testing.is_true(pool.in_use >= 4096 and pool.fragmentation >= 0 and pool.fragmentation <= 1)
  testing.equal(#tensor, 1024)
end)

testing.case("plans of many sizes of batches go, those used last stay", function()
  local function model_of(options)
    local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
    options.optimizer, options.loss = "sgd", "mse"
    model:compile(options)
    return model
  end
  local model = model_of {}
  for rows = 1, 100 do model:train_on_batch(gb.ones { rows, 3 }, gb.ones { rows, 2 }) end
  for rows = 1, 70 do model:predict(gb.ones { rows, 3 }) end
  local report = gb.memory.report(model)
  testing.equal(report.kept.plans, 64 + 32)  -- predict takes batches of at most 32
  testing.is_true(report.resident > 1 << 20)

  local doubled = gb.compile(function(x) return x * 2 end)
  for rows = 1, 100 do testing.equal(doubled(gb.ones { rows }):sum():item(), 2.0 * rows) end
  testing.equal(doubled.traces, 64)

  local before = gb.memory.report().kept.kernels
  gb.ones { 10007 }:sum()
  testing.is_true(gb.memory.report().kept.kernels > before)
  for size = 1, 5000 do testing.equal(gb.ones { size }:sum():item(), 1.0 * size) end
  testing.is_true(gb.memory.report().kept.kernels <= 4096)
end)

testing.case("a step goes on when its plan was given up meanwhile", function()
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 3 }, kernel_initializer = "zeros" }) }
  local steps = 0
  model:compile { optimizer = gb.optimizers.SGD(0.1), loss = "mse" }
  local examples = gb.data.Dataset.from_tensor_slices({ gb.ones { 8, 3 }, gb.ones { 8, 1 } }):batch(2)
  local history = model:fit(examples, { epochs = 2, verbose = 0, callbacks = { {
    on_batch_end = function()
      steps = steps + 1
      for rows = 3, 80 do model:train_on_batch(gb.zeros { rows, 3 }, gb.zeros { rows, 1 }) end
    end,
  } } })
  testing.equal(steps, 8)
  testing.equal(#history.history.loss, 2)
end)

testing.case("the largest batch fits, and one more does not", function()
  local model = build "convolution"
  local limit = in_use() + 20 * MiB
  local before = model:get_weights()
  local found, search = gb.find_batch_size(model, digits, limit)
  testing.is_true(#search.trials <= 4)
  local last = search.trials[#search.trials]
  testing.is_true(last.fits and last.used <= limit and last.batch_size == found)
  testing.is_true(math.abs(last.used - last.predicted) <= 0.02 * last.used, "used as predicted")
  for i, weights in ipairs(model:get_weights()) do
    testing.equal((weights - before[i]):abs():max():item(), 0.0)
  end
  local rest = limit - in_use()  -- weights and the optimizer's state are there
  local function more(batch_size)
    local planned = model:memory(batch_size)
    return planned.total - planned.variables - planned.optimizer
  end
  testing.is_true(more(found) <= rest and more(found + 1) > rest)
end)

testing.case("accumulation makes larger batches fit, in multiples of its parts", function()
  local limit = in_use() + 8 * MiB
  local whole = gb.find_batch_size(build "convolution", digits, limit)
  collectgarbage()
  local parts = gb.find_batch_size(build("convolution", { gradient_accumulation_steps = 4 }), digits, limit)
  testing.equal(parts % 4, 0)
  testing.is_true(parts > 3 * whole, parts .. " against " .. whole)
end)

testing.case("a function makes the batches, and all examples may fit", function()
  local asked = {}
  local found = gb.find_batch_size(build "dense", function(size)
    asked[size] = true
    return digits:take(96):batch(size)
  end, in_use() + 600 * MiB)
  testing.equal({ found, asked[96] }, { 96, true })
  testing.equal((gb.find_batch_size(build "dense", digits:take(96), in_use() + 600 * MiB)), 96)
end)

testing.case("a search changes nothing that training changes", function()
  gb.config.set_dtype_policy "mixed_float16"
  local model = build "dense"
  gb.config.set_dtype_policy "float32"
  local optimizer = gb.optimizers.LossScaleOptimizer("sgd", { initial_scale = 1e38 })  -- overflows at once
  model:compile { optimizer = optimizer, loss = "categorical_crossentropy" }
  gb.find_batch_size(model, digits:take(96), in_use() + 600 * MiB)
  testing.equal(optimizer.skipped_steps, 0)
  testing.near(optimizer.loss_scale / 1e38, 1, 1e-6)
end)

testing.case("what no step has proved is not told", function()
  local limit = in_use() + 20 * MiB
  testing.equal((gb.find_batch_size(build "dense", function() return digits:batch(16) end, limit)), 16)
  testing.raises("was to have batches of 8 examples; its first has 16", gb.find_batch_size, build "dense",
    function(size) return digits:take(24):batch(size == 1 and 1 or size < 16 and 16 or 8) end, limit)
end)

testing.case("sizes beyond what kernels know are refused", function()
  local model = build "dense"
  testing.raises("a batch size from 1 to 2147483647 is expected, got 8589934592", model.memory, model, 1 << 33)
  testing.raises("tensors of examples are expected, got a scalar", model.fit, model, gb.tensor(1.0), gb.tensor(1.0),
    { validation_split = 0.5 })
end)

testing.case("limits that nothing fits are refused", function()
  local model = build "dense"
  testing.raises("has no limit of memory; give one in bytes", gb.find_batch_size, model, digits)
  testing.raises("is below the 1.17 MiB that the variables of model 'sequential' and of its optimizer take alone",
    gb.find_batch_size, model, digits, MiB)
  local variables = model:memory(1).variables + model:memory(1).optimizer
  testing.raises("for a batch of 1, the smallest there is; the limit is", gb.find_batch_size, model, digits,
    variables + 1024)
  testing.raises("a limit in bytes is expected, got 0", gb.find_batch_size, model, digits, 0)
  testing.raises("a Dataset of single examples is expected", gb.find_batch_size, model, "mnist", MiB)
  local x = gb.zeros { 8, 784 }
  testing.raises("gb.AUTOTUNE is found for training, by fit; evaluate takes a number of examples",
    model.evaluate, model, x,
    gb.zeros { 8, 10 }, { batch_size = gb.AUTOTUNE })
  testing.raises("gb.AUTOTUNE is found for training, by fit; predict takes", model.predict, model, x,
    { batch_size = gb.AUTOTUNE })
  testing.raises("batch: gb.AUTOTUNE is no size of a batch", digits.batch, digits, gb.AUTOTUNE)
  testing.raises("gb.AUTOTUNE chooses it for tensors", model.fit, model, digits:batch(8), { batch_size = gb.AUTOTUNE })
end)

testing.case("the search leaves out a last batch that cannot be cut into parts", function()
  local model = build("dense", { gradient_accumulation_steps = 8 })
  local size, search = gb.find_batch_size(model, digits:take(500), 1 << 30)
  testing.equal(size, 496)
  testing.equal(#search.trials, 1)
  testing.raises("the dataset has 7 examples, fewer than gradient_accumulation_steps = 8", gb.find_batch_size, model,
    digits:take(7), 1 << 30)
end)

testing.case("data is taken to be float32 whatever a model computes in", function()
  gb.config.set_dtype_policy "bfloat16"
  local model = gb.Sequential { gb.layers.Dense(16, { input_shape = { 512 } }), gb.layers.Dense(4) }
  gb.config.set_dtype_policy "float32"
  model:compile { optimizer = "sgd", loss = "mean_squared_error" }
  local planned = model:memory(256).total
  model:fit(gb.ones { 256, 512 }, gb.ones { 256, 4 }, { batch_size = 256, verbose = 0 })
  testing.equal(gb.memory.report(model).step.total, planned)
end)

testing.case("a budget of nothing is no budget", function()
  testing.raises("option 'recompute_budget': bytes are expected, at least 1, got 0", build, "dense",
    { recompute_budget = 0 })
end)
