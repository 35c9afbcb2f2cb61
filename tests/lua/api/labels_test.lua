-- Labels meet predictions in front of every loss and metric; cross-entropies outside of their domain are Keras'; ops
-- that do not depend on a shift of their inputs do not lose their digits to it.
local gb = require "gpubench"
local testing = require "testing"

local L = gb.layers

local function line(labels, loss, metrics)
  local x = gb.tensor { { -2 }, { -1 }, { 1 }, { 2 } }
  local model = gb.Sequential { L.Dense(1, { input_shape = { 1 }, kernel_initializer = "zeros" }) }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.05 }, loss = loss, metrics = metrics }
  local history = model:fit(x, labels, { epochs = 100, batch_size = 4, verbose = 0 }).history
  return model:get_weights()[1]:item(), history
end

testing.case("a script's loss and metric learn what the named ones learn, with labels [n] and [n, 1]", function()
  local function error_of(a, b) return (a - b):square():mean(-1) end
  for _, labels in ipairs { gb.tensor { -4, -2, 2, 4 }, gb.tensor { { -4 }, { -2 }, { 2 }, { 4 } },
    gb.tensor({ -4, -2, 2, 4 }, { dtype = "int64" }) } do
    for _, loss in ipairs { "mse", error_of, function(a, b) return (a - b):abs():square():mean() end } do
      local own = type(loss) == "function" and labels.dtype == "int64"
        and function(a, b) return loss(a:cast "float32", b) end or loss
      local slope, history = line(labels, own, { function(a, b) return (a:cast "float32" - b):abs():mean(-1) end })
      testing.near(slope, 2.0, 1e-3)
      testing.near(history.loss[100], 0.0, 1e-5)
      testing.near(history.metric_1[100], 0.0, 1e-2)
    end
  end
end)

testing.case("what cannot be matched is refused, by loss and by metric", function()
  local predictions = gb.ones { 4, 4 }
  local refusal = "labels float32[4] do not match predictions float32[4, 4]"
  local model = gb.Sequential { L.Dense(4, { input_shape = { 2 } }) }
  local function difference(a, b) return (a - b):square():mean() end
  model:compile { optimizer = "sgd", loss = difference }
  testing.raises(refusal, model.fit, model, gb.ones { 4, 2 }, gb.ones { 4 }, { verbose = 0, batch_size = 4 })
  model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy",
    metrics = { function(a, b) return (b:argmax() - a):abs():cast "float32" end } }
  model:fit(gb.ones { 4, 2 }, gb.zeros({ 4 }, { dtype = "int64" }), { verbose = 0, batch_size = 4 })  -- class indices
  model:compile { optimizer = "sgd", loss = function(a, b) return b:mean() + a:mean() * 0 end,
    metrics = { difference } }
  testing.raises(refusal, model.evaluate, model, gb.ones { 4, 2 }, gb.ones { 4 }, { batch_size = 4 })
  testing.equal(predictions.shape, { 4, 4 })
end)

testing.case("cross-entropies of what no softmax made are Keras'", function()
  local hot, index = gb.tensor { { 1, 0 } }, gb.tensor({ 0 }, { dtype = "int64" })
  -- Keras 3.15 on TensorFlow 2.20.
  for _, case in ipairs { { 2, 6, 1.38629, 0.69315 }, { 5, -2, 0, 0 }, { 0.2, 0.6, 1.38629, 1.38629 },
      { 0.25, 0.75, 1.38629, 1.38629 } } do
    local predictions = gb.tensor { { case[1], case[2] } }
    for _, wrap in ipairs { function(f) return f end, gb.compile } do
      local categorical = wrap(function(p) return gb.losses.CategoricalCrossentropy()(hot, p) end)
      local sparse = wrap(function(p) return gb.losses.SparseCategoricalCrossentropy()(index, p) end)
      testing.near(categorical(predictions):item(), case[3], 1e-4)
      testing.near(sparse(predictions):item(), case[4], 1e-4)
    end
  end
  local x, y = gb.random.normal({ 64, 3 }, { seed = 1 }),
    gb.random.uniform({ 64 }, { seed = 2, high = 3 }):floor():cast "int64"
  for loss, labels in pairs { categorical_crossentropy = y:one_hot(3), sparse_categorical_crossentropy = y } do
    local model = gb.Sequential { L.Dense(3, { input_shape = { 3 } }) }
    model:compile { optimizer = "adam", loss = loss, metrics = { loss } }
    local history = model:fit(x, labels, { epochs = 30, verbose = 0 }).history
    for _, value in ipairs(history.loss) do testing.is_true(value >= 0, loss) end
  end
end)

testing.case("a softmax at the end gives the same loss and gradient as before", function()
  local logits = gb.random.normal({ 5, 4 }, { seed = 3 })
  local labels = gb.tensor({ 0, 3, 1, 2, 2 }, { dtype = "int64" })
  local function gradient(loss, of)
    local tape <close> = gb.tape()
    local x = logits * 1
    return tape:gradient(loss(labels, of(x)), x)
  end
  local through = gradient(gb.losses.SparseCategoricalCrossentropy(), function(x) return x:softmax() end)
  local direct = gradient(gb.losses.SparseCategoricalCrossentropy { from_logits = true }, function(x) return x end)
  testing.is_true((through - direct):abs():max():item() < 1e-6)
end)

-- The same float32 numbers in double precision.
local function doubles(row)
  local largest, sum = -math.huge, 0.0
  for _, x in ipairs(row) do largest = math.max(largest, x) end
  for _, x in ipairs(row) do sum = sum + math.exp(x - largest) end
  local log_softmax = {}
  for k, x in ipairs(row) do log_softmax[k] = x - largest - math.log(sum) end
  return log_softmax
end

testing.case("softmax, its logarithm and cross-entropies keep their digits at any shift", function()
  for _, shift in ipairs { 0, 1, 1e3, 6e4, 1e6, 1e7, -1e7 } do
    local rows = (gb.random.normal({ 7, 5 }, { seed = 4 }) * 3 + shift):to_table()  -- as float32 holds them
    local x = gb.tensor(rows)
    local softmax, logarithm = x:softmax():to_table(), x:log_softmax():to_table()
    local losses = gb.losses.SparseCategoricalCrossentropy { from_logits = true, reduction = "none" }(
      gb.tensor({ 0, 1, 2, 3, 4, 0, 1 }, { dtype = "int64" }), x):to_table()
    for i, row in ipairs(rows) do
      local expected = doubles(row)
      for k, value in ipairs(expected) do
        testing.near(logarithm[i][k], value, 1e-5 * math.max(1, math.abs(value)))
        testing.near(softmax[i][k], math.exp(value), 1e-5)
      end
      testing.near(losses[i], -expected[(i - 1) % 5 + 1], 1e-5 * math.max(1, math.abs(expected[(i - 1) % 5 + 1])))
    end
  end
end)

testing.case("norms and variance of shifted values are those in double precision", function()
  local least = 1e-6
  for _, shift in ipairs { 0, 1e2, 1e4, -1e4 } do
    local rows = (gb.random.normal({ 64, 16 }, { seed = 4 }) + shift):to_table()
    local x = gb.tensor(rows)
    local by_row = L.LayerNormalization { epsilon = least }(x):to_table()
    local by_column = L.BatchNormalization { epsilon = least }(x, { training = true }):to_table()
    local variances = x:variance(-1):to_table()
    local function moments(values)
      local mean, variance = 0.0, 0.0
      for _, value in ipairs(values) do mean = mean + value / #values end
      for _, value in ipairs(values) do variance = variance + (value - mean) ^ 2 / #values end
      return mean, variance
    end
    for i, row in ipairs(rows) do
      local mean, variance = moments(row)
      testing.near(variances[i], variance, 1e-4 * variance)
      -- The mean itself is a float32: half of its last digit is 5e-4 at 1e4, as it is in Keras.
      for k, value in ipairs(row) do
        testing.near(by_row[i][k], (value - mean) / math.sqrt(variance + least), 1e-5 + 3e-7 * math.abs(shift))
      end
    end
    for k = 1, 16 do
      local column = {}
      for i, row in ipairs(rows) do column[i] = row[k] end
      local mean, variance = moments(column)
      for i, value in ipairs(column) do
        testing.near(by_column[i][k], (value - mean) / math.sqrt(variance + least), 1e-4)
      end
    end
  end
end)
