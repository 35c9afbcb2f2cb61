-- Policies of mixed precision and the scaling of losses.
local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local function under(policy, body)
  gb.config.set_dtype_policy(policy)
  local result = body()
  gb.config.set_dtype_policy "float32"
  return result
end

for _, policy in ipairs { "mixed_bfloat16", "mixed_float16" } do
  for _, eager in ipairs { false, true } do
    testing.case(policy .. ": a whole model trains" .. (eager and " eagerly" or ""), function()
      gb.config.set_seed(3)
      local model = under(policy, thirds.convolutional)
      local inputs, labels = thirds.tensors(96)
      model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02 },
        loss = "sparse_categorical_crossentropy", metrics = { "accuracy" }, run_eagerly = eager }
      local history = model:fit(inputs, labels, { epochs = 15, batch_size = 16, verbose = 0 }).history
      testing.is_true(model:evaluate(inputs, labels).accuracy >= 0.9, "at least 90 % right")
      testing.equal(model:predict(inputs).dtype, "float32")
      for _, weight in ipairs(model.variables) do testing.equal(weight.dtype, "float32") end
      for _, layer in ipairs(model.layers) do
        if layer.kind ~= "Input" then testing.equal(layer.dtype_policy, policy) end
      end
      testing.equal(history.skipped_steps and #history.skipped_steps, policy == "mixed_float16" and 15 or nil)
      local data = gb.data.Dataset.from_tensor_slices { inputs, labels }:batch(16)
      local row = gb.measure.training(model, data, { budget = 0.05, min_time = 0.01 })
      testing.equal(row.precision, policy)
      testing.is_true(row.mfu > 0, "mfu is a share of the best product in the type of the arithmetic")
      testing.equal(math.type(row.skipped_steps), policy == "mixed_float16" and "integer" or nil)
    end)
  end
end

testing.case("a policy is checked, stays until the next one, and a layer's own comes first", function()
  testing.equal(gb.config.dtype_policy(), "float32")
  testing.raises("unknown policy 'mixed_int8' (known: float32, float16, bfloat16, mixed_float16, mixed_bfloat16)",
    gb.config.set_dtype_policy, "mixed_int8")
  testing.raises("unknown dtype or policy 'quarter' (known: float32, float16, bfloat16, mixed_float16, mixed_bfloat16",
    gb.layers.Dense, 2, { dtype = "quarter" })
  local layers = under("mixed_float16", function()
    return { gb.layers.Dense(2), gb.layers.Dense(2, { dtype = "bfloat16" }), gb.layers.Dense(2, { dtype = "float32" }) }
  end)
  local x = gb.ones { 1, 3 }
  testing.equal(layers[1](x).dtype, "float16")
  testing.equal(layers[2](x).dtype, "bfloat16")
  testing.equal(layers[3](x).dtype, "float32")
  testing.equal(layers[1].variables[1].dtype .. layers[2].variables[1].dtype, "float32bfloat16")
end)

testing.case("layers of several policies are joined by casts", function()
  local x = gb.Input { shape = { 3 } }
  local hidden = gb.layers.Dense(4, { activation = "relu", dtype = "mixed_bfloat16" })(x)
  local other = gb.layers.Dense(4, { dtype = "mixed_float16" })(x)
  local model = gb.Model { inputs = x, outputs = gb.layers.Dense(2)(gb.layers.Add()({ hidden, other })) }
  testing.equal(model(gb.ones { 2, 3 }).dtype, "float32")
  model:compile { optimizer = "sgd", loss = "mse" }
  local data = gb.data.Dataset.from_tensor_slices { gb.ones { 8, 3 }, gb.ones { 8, 2 } }:batch(4)
  local row = gb.measure.training(model, data, { budget = 0.02, min_time = 0.01 })
  testing.equal(row.precision, "mixed_bfloat16 and mixed_float16 and float32")
  testing.equal(row.skipped_steps, 0)  -- a layer of mixed_float16 is enough
end)

testing.case("a saved model keeps its policies", function()
  local model = under("mixed_bfloat16", thirds.convolutional)
  local inputs = thirds.tensors(4)
  local folder = gb._native.options.out .. "/results/mixed"
  model:save(folder)
  local loaded = gb.load_model(folder)
  for index, layer in ipairs(loaded.layers) do
    testing.equal(layer.dtype_policy, model.layers[index].dtype_policy)
  end
  testing.equal(loaded:predict(inputs):to_table(), model:predict(inputs):to_table())
end)

-- One weight, w = 1, and a loss of `factor` w: what its gradient is, is known.
local function one_weight(policy)
  local model = gb.Sequential {
    gb.layers.Dense(1, { input_shape = { 1 }, use_bias = false, kernel_initializer = "ones", dtype = policy }),
  }
  return model
end

local function product_loss(labels, predictions)
  return (labels * predictions):mean()
end

local function train_one(options)
  local model = one_weight(options.policy or "mixed_float16")
  local optimizer = options.optimizer
  model:compile { optimizer = optimizer, loss = product_loss, auto_scale_loss = options.auto_scale_loss,
    run_eagerly = options.eager }
  local factors = gb.tensor(options.factors)
  local data = gb.data.Dataset.from_tensor_slices { gb.ones { #options.factors, 1 }, factors }:batch(1)
  local history = model:fit(data, { epochs = options.epochs or 1, verbose = 0 }).history
  return model.variables[1]:to_table()[1][1], history, model
end

for _, eager in ipairs { false, true } do
  local how = eager and ", eagerly" or ""
  testing.case("a gradient that float16 rounds to nothing survives by its scale" .. how, function()
    local tiny = { { 1e-8 } }
    local function sgd() return gb.optimizers.SGD { learning_rate = 1e6 } end
    testing.equal((train_one { optimizer = sgd(), factors = tiny, auto_scale_loss = false, eager = eager }), 1.0)
    testing.near((train_one { optimizer = sgd(), factors = tiny, eager = eager }), 0.99, 1e-4)
    testing.near((train_one { optimizer = sgd(), factors = tiny, policy = "mixed_bfloat16",
      eager = eager }), 0.99, 1e-4)
  end)

  testing.case("an overflow skips the step, halves the scale and leaves the counter" .. how, function()
    local inner = gb.optimizers.SGD { learning_rate = 0.125 }
    local optimizer = gb.optimizers.LossScaleOptimizer(inner, { initial_scale = 2 ^ 16, dynamic_growth_steps = 3 })
    -- 65504 is the largest float16: a gradient of 1 overflows at 2^16, and fits at 2^15.
    local weight, history = train_one { optimizer = optimizer, factors = { { 1 }, { 1 } }, eager = eager }
    testing.equal(weight, 0.875)
    testing.equal(optimizer.skipped_steps, 1)
    testing.equal(optimizer.iterations, 1)
    testing.equal(inner.iterations, 1)
    testing.equal(optimizer.loss_scale, 2.0 ^ 15)
    testing.equal(history.skipped_steps, { 1.0 })
  end)

  testing.case("good steps double the scale, and a fixed one stays and skips" .. how, function()
    local function scaled(options) return gb.optimizers.LossScaleOptimizer("sgd", options) end
    local growing = scaled { initial_scale = 4, dynamic_growth_steps = 3 }
    train_one { optimizer = growing, factors = { { 1 }, { 1 }, { 1 }, { 1 } }, eager = eager }
    testing.equal(growing.loss_scale, 8.0)
    local fixed = scaled { initial_scale = 1024, dynamic = false }
    train_one { optimizer = fixed, factors = { { 1 }, { 100 }, { 1 } }, eager = eager }
    testing.equal(fixed.loss_scale, 1024.0)
    testing.equal(fixed.skipped_steps, 1)
    testing.equal(fixed.iterations, 2)
  end)
end

testing.case("a schedule goes on where it was after a skipped step", function()
  local rate = gb.schedules.ExponentialDecay(0.5, 1, 0.5, { staircase = true })
  local optimizer = gb.optimizers.LossScaleOptimizer(gb.optimizers.SGD { learning_rate = rate },
    { initial_scale = 2 ^ 16 })
  -- Skipped; 0.5 of the rate; 0.25 of it.
  testing.equal((train_one { optimizer = optimizer, factors = { { 1 }, { 0.5 }, { 0.5 } } }), 1 - 0.25 - 0.125)
end)

local function loop_step(model, optimizer, loss_fn)
  return function(x, y)
    local tape <close> = gb.tape()
    local loss = loss_fn(y, model(x, { training = true }))
    local gradients = tape:gradient(optimizer:get_scaled_loss(loss), model.trainable_variables)
    optimizer:apply_gradients(optimizer:get_unscaled_gradients(gradients), model.trainable_variables)
    return loss
  end
end

for _, compiled in ipairs { false, true } do
  testing.case("a loop written by hand scales as compile does" .. (compiled and ", compiled" or ""), function()
    local function start()
      gb.config.set_seed(5)
      return under("mixed_float16", thirds.convolutional), gb.optimizers.LossScaleOptimizer(
        gb.optimizers.Adam { learning_rate = 0.01 }, { initial_scale = 2 ^ 40 })
    end
    local inputs, labels = thirds.tensors(8)
    local model, optimizer = start()
    local step = loop_step(model, optimizer, gb.losses.SparseCategoricalCrossentropy())
    if compiled then step = gb.compile(step) end
    for _ = 1, 40 do step(inputs, labels) end

    local twin, twin_optimizer = start()
    twin:compile { optimizer = twin_optimizer, loss = "sparse_categorical_crossentropy" }
    twin:fit(gb.data.Dataset.from_tensor_slices { inputs, labels }:batch(8), { epochs = 40, verbose = 0 })
    testing.is_true(optimizer.skipped_steps > 10, "the scale began too high")
    testing.equal(optimizer.skipped_steps, twin_optimizer.skipped_steps)
    testing.equal(optimizer.loss_scale, twin_optimizer.loss_scale)
    testing.equal(optimizer.iterations, 40 - optimizer.skipped_steps)
    testing.is_true(gb.losses.SparseCategoricalCrossentropy()(labels, model(inputs)):item() < 1.5, "learns")
  end)
end

testing.case("what scales no loss says so, and options are checked", function()
  local sgd = gb.optimizers.SGD()
  testing.equal(sgd.loss_scale, nil)
  testing.equal(sgd.skipped_steps, nil)
  testing.raises("Optimizer:get_scaled_loss: sgd scales no loss; wrap it by "
    .. "gb.optimizers.LossScaleOptimizer(optimizer)",
    sgd.get_scaled_loss, sgd, gb.tensor(1))
  testing.raises("Optimizer:get_unscaled_gradients: sgd scales no loss", sgd.get_unscaled_gradients, sgd, {})
  local scaled = gb.optimizers.LossScaleOptimizer(sgd)
  testing.equal(scaled.name, "loss_scale_optimizer")
  testing.equal(scaled.loss_scale, 2.0 ^ 15)
  testing.equal(scaled:get_scaled_loss(gb.tensor(2.0)):item(), 2.0 ^ 16)
  local unscaled = scaled:get_unscaled_gradients { gb.tensor(2.0 ^ 15), false }
  testing.equal(unscaled[1]:item(), 1.0)
  testing.equal(unscaled[2], false)
  testing.raises("a floating-point loss is expected, got int64[]", scaled.get_scaled_loss, scaled,
    gb.tensor(1, { dtype = "int64" }))
  testing.raises("the inner optimizer is a LossScaleOptimizer already", gb.optimizers.LossScaleOptimizer, scaled)
  testing.raises("LossScaleOptimizer: initial_scale must be a number from 1, got 0",
    gb.optimizers.LossScaleOptimizer, sgd,
    { initial_scale = 0 })
  testing.raises("LossScaleOptimizer: initial_scale must be a number from 1, got 1e+39",
    gb.optimizers.LossScaleOptimizer, sgd, { initial_scale = 1e39 })
  testing.raises("dynamic_growth_steps must be at least 1, got 0", gb.optimizers.LossScaleOptimizer, sgd,
    { dynamic_growth_steps = 0 })
  testing.raises("unknown option 'initial' (known: initial_scale, dynamic_growth_steps, dynamic)",
    gb.optimizers.LossScaleOptimizer, sgd, { initial = 2 })
end)

testing.case("variables of 16 bits are trained by a scaled loss too", function()
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 4 }, dtype = "float16" }) }
  model:compile { optimizer = gb.optimizers.LossScaleOptimizer("sgd", { initial_scale = 8 }),
    loss = "mean_squared_error" }
  local before = model:evaluate(gb.ones { 8, 4 }, gb.zeros { 8, 1 }).loss
  model:fit(gb.ones { 8, 4 }, gb.zeros { 8, 1 }, { epochs = 3, verbose = 0 })
  testing.is_true(model:evaluate(gb.ones { 8, 4 }, gb.zeros { 8, 1 }).loss < before)
end)

testing.case("a resumed training goes on with its scale", function()
  local file = gb._native.options.out .. "/results/scaled.safetensors"
  os.remove(file)
  local function train(epochs)
    gb.config.set_seed(5)
    local model = under("mixed_float16", thirds.convolutional)
    local optimizer = gb.optimizers.LossScaleOptimizer("adam", { initial_scale = 2 ^ 40 })
    model:compile { optimizer = optimizer, loss = "sparse_categorical_crossentropy" }
    local inputs, labels = thirds.tensors(16)
    local data = gb.data.Dataset.from_tensor_slices { inputs, labels }:batch(8)
    model:fit(data, { epochs = epochs, verbose = 0, resume = file })
    return optimizer, model
  end
  local first = train(4)
  local scale, skipped = first.loss_scale, first.skipped_steps
  testing.is_true(scale < 2 ^ 40 and skipped > 0, "skips")
  local second = train(4)
  testing.equal({ second.loss_scale, second.skipped_steps }, { scale, skipped })
end)

testing.case("a model on several devices scales its loss", function()
  collectgarbage()
  collectgarbage()
  gb._native.reset_devices()
  gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
  local function dense(device, units, options)
    options.dtype = "mixed_float16"
    return gb.device(device, function() return gb.layers.Dense(units, options) end)
  end
  local model = gb.Sequential { dense("cpu:0", 8, { activation = "relu", input_shape = { 12 } }),
    dense("cpu:1", 3, { activation = "softmax" }) }
  local optimizer = gb.optimizers.LossScaleOptimizer("adam", { initial_scale = 2 ^ 30 })
  model:compile { optimizer = optimizer, loss = "sparse_categorical_crossentropy" }
  local inputs, labels = thirds.tensors(64)
  model:fit(gb.data.Dataset.from_tensor_slices { inputs, labels }:batch(8), { epochs = 4, verbose = 0 })
  testing.is_true(optimizer.skipped_steps > 5 and optimizer.iterations > 5, "overflows, then learns")
  testing.equal(optimizer.skipped_steps + optimizer.iterations, 32)
  testing.equal(optimizer.loss_scale, 2.0 ^ (30 - optimizer.skipped_steps))
end)
