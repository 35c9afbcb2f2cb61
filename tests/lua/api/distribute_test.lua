-- Strategies from scripts: the same model on one device and on several.
local gb = require "gpubench"
local replicas = require "digit_replicas"
local testing = require "testing"
local case, equal, near, is_true, raises = testing.case, testing.equal, testing.near, testing.is_true, testing.raises

local kind, most, build, strategy_of = replicas.kind, replicas.most, replicas.build, replicas.strategy_of
local step_of = replicas.step_of
local digits = gb.datasets.mnist "train"

local function difference(model, other)
  local weights, largest = other:get_weights(), 0
  for i, weight in ipairs(model:get_weights()) do
    largest = math.max(largest, (weight - weights[i]):abs():max():item())
  end
  return largest
end

case("weighted metrics are those of one device", function()
  local x = gb.random.normal({ 11, 2 }, { seed = 3 })
  local data = gb.data.Dataset.from_tensor_slices { x, x:sum(-1, true),
    gb.random.uniform({ 11 }, { seed = 4 }) }:batch(4)
  local function figures()
    gb.config.set_seed(5)
    local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
    model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" }, weighted_metrics = { "mae" } }
    return model:evaluate(data)
  end
  local alone, together = figures(), strategy_of(2):scope(figures)
  near(together.weighted_mae, alone.weighted_mae, 1e-6)
  is_true(math.abs(alone.weighted_mae - alone.mae) > 1e-4, "weights count")
end)

-- An uneven last batch of one example included.
local function train(model)
  local history = model:fit(digits:take(129):batch(32), { epochs = 2, verbose = 0 }).history
  return model, history
end

local alone, history_alone = train(build())

case("fit updates as one device does", function()
  for count = 1, most do
    local strategy = strategy_of(count)
    local model, history = train(strategy:scope(build))
    is_true(difference(model, alone) < 1e-5, "weights of " .. count)
    for epoch = 1, 2 do
      near(history.loss[epoch], history_alone.loss[epoch], 1e-5)
      near(history.accuracy[epoch], history_alone.accuracy[epoch], 1e-6)
    end
    equal(strategy.num_replicas_in_sync, count)
  end
end)

case("validation, evaluation and prediction are those of one device", function()
  local model = strategy_of(2):scope(build)
  -- Small weights, since a loss is the float32 sum of 101 rows: at ln 10 a row the spacing of such sums is 1.5e-7 of
  -- the mean, where the trained model (6.4 a row) has 6e-7.
  local single, weights = build(), {}
  for i, weight in ipairs(single:get_weights()) do weights[i] = weight * 0.5 end
  single:set_weights(weights)
  model:set_weights(weights)
  local test = gb.datasets.mnist("test"):take(101):batch(25)
  local one, two = single:evaluate(test), model:evaluate(test)
  near(two.loss, one.loss, 1e-6)
  near(two.accuracy, one.accuracy, 1e-6)
  is_true((model:predict(test) - single:predict(test)):abs():max():item() < 1e-6, "predictions")
end)

case("a step written by hand trains all replicas", function()
  local function trained(run, model)
    local optimizer = gb.optimizers.Adam { learning_rate = 0.01 }
    local step = step_of(model, optimizer)
    local losses = {}
    for images, labels in digits:take(109):batch(36):iter() do losses[#losses + 1] = run(step, images, labels) end
    return model, losses, optimizer
  end
  local strategy = strategy_of(most)
  -- The last batch is one example, of which two replicas would have none.
  raises("a batch of 1 example has none for some of " .. most .. " replicas", trained,
    function(step, ...) return strategy:run(step, ...) end, strategy:scope(build))
  digits = digits:take(108)
  local model, losses, optimizer = trained(
    function(step, ...) return strategy:reduce("mean", strategy:run(step, ...)):item() end, strategy:scope(build))
  local other, expected = trained(function(step, ...) return step(...):item() end, build())
  digits = gb.datasets.mnist "train"
  is_true(difference(model, other) < 1e-5, "weights")
  for i, loss in ipairs(expected) do near(losses[i], loss, 1e-5) end
  equal(optimizer.iterations, 3)
end)

case("dropout in a step written by hand drops what it drops on one device", function()
  local function masks(run)
    gb.config.set_seed(5)
    local layer = gb.layers.Dropout(0.5, { seed = 3 })
    local function step(x) return layer(x, { training = true }) end
    return run(step, gb.ones { 7, 5 })
  end
  local strategy = strategy_of(most)
  local shared = masks(function(...) return strategy:run(...) end)
  equal(gb.concat(shared.values):to_table(), masks(function(step, x) return step(x) end):to_table())
end)

case("values of replicas are reduced", function()
  local strategy = strategy_of(2)
  local function twice(x, scalar) return x * scalar, x:sum() end
  local doubled, sums = strategy:run(twice, gb.tensor { 1, 2, 3, 4, 5, 6 }, 2)
  equal(#doubled.values, 2)
  equal(doubled.values[2]:to_table(), { 8.0, 10.0, 12.0 })
  equal(strategy:reduce("sum", doubled):to_table(), { 10.0, 14.0, 18.0 })
  equal(strategy:reduce("sum", doubled, 1):item(), 42.0)
  equal(strategy:reduce("mean", doubled, 1):item(), 7.0)
  equal(strategy:reduce("mean", sums):item(), 10.5)
  equal(strategy:reduce("sum", strategy:run(function(x) return x + 1 end, sums)):item(), 23.0)
  raises("axis 2: the values have the axes 1 to 1", strategy.reduce, strategy, "sum", doubled, 2)
  raises("unknown operation 'max' (known: sum, mean)", strategy.reduce, strategy, "max", doubled)
end)

case("synchronized batch norm and dropout train as on one device", function()
  local function layered(synchronized)
    gb.config.set_seed(5)
    local model = gb.Sequential {
      gb.layers.Dense(16, { activation = "relu", input_shape = { 784 } }),
      gb.layers.BatchNormalization { synchronized = synchronized },
      gb.layers.Dropout(0.3),
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    model:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
    model:fit(digits:take(101):batch(32), { verbose = 0 })
    return model
  end
  local whole = layered(false)
  local strategy = strategy_of(2)
  is_true(difference(strategy:scope(function() return layered(true) end), whole) < 1e-5, "synchronized")
  is_true(difference(strategy:scope(function() return layered(false) end), whole) > 1e-4, "each by its own")
end)

case("synchronized batch norm in a step written by hand normalizes by the whole batch", function()
  local function trained(synchronized, run)
    gb.config.set_seed(5)
    local model = gb.Sequential {
      gb.layers.BatchNormalization { synchronized = synchronized, momentum = 0.5, input_shape = { 784 } },
      gb.layers.Dense(16, { activation = "tanh" }),
      gb.layers.BatchNormalization { synchronized = synchronized, momentum = 0.5 },
      gb.layers.Dense(10, { activation = "softmax" }),
    }
    local step = step_of(model, gb.optimizers.SGD { learning_rate = 0.1 })
    for images, labels in digits:take(97):batch(36):iter() do run(step, images, labels) end  -- 36, 36 and 25
    return model
  end
  local whole = trained(false, function(step, ...) return step(...) end)
  -- Nothing changes without a strategy.
  is_true(difference(trained(true, function(step, ...) return step(...) end), whole) == 0, "one device")
  for _, strategy in ipairs { strategy_of(1), strategy_of(2), strategy_of(most),
      strategy_of(2, { shares = { 3, 1 } }) } do
    local function together(synchronized)
      return strategy:scope(function() return trained(synchronized, function(...) return strategy:run(...) end) end)
    end
    is_true(difference(together(true), whole) < 5e-5, "synchronized, " .. tostring(strategy))
    if strategy.num_replicas_in_sync > 1 then is_true(difference(together(false), whole) > 1e-3, "each by its own") end
  end
  local layer, plain = gb.layers.BatchNormalization { synchronized = true }, gb.layers.BatchNormalization()
  local function half(of) return function(x) return of(x:rows(1, 2), { training = true }) end end
  strategy_of(2):run(half(plain), gb.ones { 8, 3 })
  raises("synchronized, it normalizes the rows that each replica was given of a batch, and got "
    .. "float32[2, 3]: call it on all",
    function() strategy_of(2):run(half(layer), gb.ones { 8, 3 }) end)
end)

-- A step with the gradient mean(x) of one weight, by a rate of 1.
local function weight_step()
  local weight, optimizer = gb.Variable(gb.tensor { 0.0 }), gb.optimizers.SGD { learning_rate = 1.0 }
  return function(x)
    local tape <close> = gb.tape()
    local loss = (weight * x):mean()
    optimizer:apply_gradients(tape:gradient(loss, { weight }), { weight })
  end, weight
end

case("every batch has its own weights, and values of replicas those of their rows", function()
  local strategy = strategy_of(2, { shares = { 3, 1 } })
  local step, weight = weight_step()
  strategy:run(step, gb.zeros { 35 })
  strategy:run(step, gb.ones { 97 })
  near(weight:item(), -1, 1e-6)
  local values = strategy:run(function(x) return x + 0 end, gb.tensor { 1.0, 1.0, 1.0, 9.0 })
  local other, moved = weight_step()
  strategy:run(other, values)
  near(moved:item(), -3, 1e-6)
  raises("a batch of 3 examples has none for some of 2 replicas", function()
    strategy_of(2, { shares = { 9, 1 } }):run(function(x) return x:mean() end, gb.ones { 3 })
  end)
end)

case("replicas have to exchange the same", function()
  local strategy = strategy_of(2)
  local step = weight_step()
  raises("the function has to exchange the same on every replica, whatever its rows", function()
    strategy:run(function(x)
      if x.shape[1] == 3 then step(x) end
      return x
    end, gb.ones { 5, 2 })
  end)
  local a, b = gb.Variable(gb.tensor { 0.0 }), gb.Variable(gb.tensor { 0.0 })
  local optimizer = gb.optimizers.SGD()
  raises("the function has to exchange the same", function()
    strategy:run(function(x)
      local tape <close> = gb.tape()
      local loss = (a * x):mean() + (b * x):mean()
      local order = x.shape[1] == 3 and { a, b } or { b, a }
      optimizer:apply_gradients(tape:gradient(loss, order), order)
    end, gb.ones { 5 })
  end)
  local counter = gb.Variable(gb.zeros({ 1 }, { dtype = "int64" }))
  raises("is set by a replica's own rows, and would differ on every replica", function()
    strategy:run(function(x) counter:assign_add(x:sum():reshape { 1 }:cast "int64") end, gb.ones { 5 })
  end)
end)

case("batch norm keeps one set of statistics", function()
  local strategy = strategy_of(2)
  local function build_normalized()
    gb.config.set_seed(5)
    local model = gb.Sequential { gb.layers.BatchNormalization { momentum = 0.5, input_shape = { 784 } },
      gb.layers.Dense(10) }
    model:compile { optimizer = "sgd", loss = gb.losses.CategoricalCrossentropy { from_logits = true } }
    return model
  end
  local model = strategy:scope(build_normalized)
  model:fit(digits:take(64):batch(64), { verbose = 0 })
  local one = build_normalized()
  one:fit(digits:take(64):batch(64), { verbose = 0 })
  -- Replicas' means average to the batch's mean; their variances do not.
  is_true((model:get_weights()[3] - one:get_weights()[3]):abs():max():item() < 1e-6, "moving mean")
end)

case("a quantization-aware layer covers the whole batch", function()
  local function trained(wrap)
    local model = wrap(function()
      local aware = gb.quantize.aware(build())
      aware:compile { optimizer = "sgd", loss = "categorical_crossentropy" }
      return aware
    end)
    model:fit(digits:take(97):batch(32), { verbose = 0 })  -- the last batch is one example
    return model
  end
  local function ranges(model)
    local found = {}
    for _, variable in ipairs(model.variables) do
      if #variable.shape == 0 then found[#found + 1] = variable:item() end
    end
    return found
  end
  local single = ranges(trained(function(fn) return fn() end))
  equal(#single, 2)
  for i, range in ipairs(ranges(trained(function(fn) return strategy_of(2):scope(fn) end))) do
    near(range, single[i], 1e-3)
  end
end)

case("mistakes are named", function()
  local strategy = gb.distribute.MirroredStrategy
  raises("unknown cross_device 'ring' (known: automatic, local, nccl, reduction_to_one)", strategy,
    { cross_device = "ring" })
  raises("'float16' or 'bfloat16' is expected, got 'int8'", strategy, { compression = "int8" })
  raises("at least 1 is expected, got 0", strategy, { bucket_bytes = 0 })
  raises(kind .. "7", strategy, { devices = { "cpu:0", kind .. "7" } })
  raises("a strategy has one replica on a device, and " .. kind .. "1 is given twice", strategy,
    { devices = { kind .. 1, kind .. 1 } })
  raises("shares: one for each of the 2 devices is needed, got 3", strategy,
    { devices = { kind .. 0, kind .. 1 }, shares = { 1, 2, 3 } })
  local two = strategy_of(2)
  raises("argument 1 of the function: a Tensor or a PerReplica is expected, got string", two.run, two, print, "text")
  raises("tensors are divided among the replicas by rows; argument 2 has 3, and those before it have 2", two.run, two,
    function(a) return a end, gb.tensor { 1, 2 }, gb.tensor { 1, 2, 3 })
  raises("the ranks of a row of gb.measure.training are expected, got none", gb.distribute.balanced_shares, {})
  raises("numbers above 0 are expected, got 0", gb.distribute.balanced_shares, { { own_s = 1 } }, { 0 })
  raises("shares: their sum is too large", strategy, { devices = { kind .. 0, kind .. 1 }, shares = { 1e308, 1e308 } })
  raises("define the function once", function()
    for _ = 1, 40 do two:run(function(x) return x end, gb.tensor { 1, 2 }) end
  end)
  local elsewhere = two:scope(function()
    local model = gb.Sequential {
      gb.layers.Dense(4, { input_shape = { 784 } }), gb.device(kind .. 1, function() return gb.layers.Dense(10) end),
    }
    model:compile { optimizer = "sgd", loss = "mean_squared_error" }
    return model
  end)
  raises("a replica has one device", elsewhere.fit, elsewhere, digits:take(4):batch(4), { verbose = 0 })
end)
