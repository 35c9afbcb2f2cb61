-- What layers add to the loss, and constraints of weights: in fit, in parts, among replicas and in loops by hand.
local gb = require "gpubench"
local testing = require "testing"
local case, equal, raises, near = testing.case, testing.equal, testing.raises, testing.near
local layers = gb.layers

gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })
local x, y = gb.random.normal({ 12, 4 }, { seed = 1 }), gb.random.normal({ 12, 2 }, { seed = 2 })

local function penalized(options)
  gb.config.set_seed(5)
  local hidden = layers.Dense(3, { activation = "tanh", input_shape = { 4 }, activity_regularizer = "l2(l2=0.05)",
    kernel_regularizer = "l1(l1=0.02)" })
  local model = gb.Sequential { hidden, layers.Dense(2) }
  options = options or {}
  options.optimizer, options.loss = gb.optimizers.SGD { learning_rate = 0.1 }, "mse"
  model:compile(options)
  return model
end

local function flat(model)
  local numbers = {}
  for _, weight in ipairs(model:get_weights()) do
    for _, number in ipairs(weight:reshape({ -1 }):to_table()) do numbers[#numbers + 1] = number end
  end
  return numbers
end

local function same(a, b, tolerance)
  equal(#a, #b)
  for index, number in ipairs(a) do near(b[index], number, tolerance) end
end

local function by_hand(model, steps)
  local optimizer = gb.optimizers.SGD { learning_rate = 0.1 }
  for _ = 1, steps do
    local tape <close> = gb.tape()
    local loss = (model(x, { training = true }):cast "float32" - y):square():mean()
    for _, more in ipairs(model.losses) do loss = loss + more end
    optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
  end
end

case("fit and a loop by hand with model.losses train alike", function()
  local fitted, looped = penalized(), penalized()
  fitted:fit(x, y, { epochs = 3, batch_size = 12, verbose = 0 })
  by_hand(looped, 3)
  same(flat(fitted), flat(looped), 1e-5)
  equal(#looped.losses, 2)
  equal(#looped.losses[1].shape, 0)
  near(looped.losses[2]:item(), looped.layers[1].losses[1]:item(), 1e-6)
end)

case("reported losses have all penalties", function()
  local model = penalized()
  local expected = (model(x) - y):square():mean():item()
  for _, more in ipairs(model.losses) do expected = expected + more:item() end
  near(model:evaluate(x, y, { batch_size = 12 }).loss, expected, 1e-5)
  near(model:train_on_batch(x, y).loss, expected, 1e-5)
end)

case("parts of a batch and eager steps give what the whole batch gives", function()
  local whole, parts = penalized(), penalized { gradient_accumulation_steps = 3 }
  local eager = penalized { run_eagerly = true }
  local losses = {}
  for index, model in ipairs { whole, parts, eager } do
    losses[index] = model:fit(x, y, { epochs = 2, batch_size = 12, verbose = 0 }).history.loss
  end
  same(flat(whole), flat(parts), 1e-5)
  same(flat(whole), flat(eager), 1e-5)
  same(losses[1], losses[2], 1e-5)
end)

case("replicas give what one device gives", function()
  local alone = penalized()
  local history = alone:fit(x, y, { epochs = 2, batch_size = 12, verbose = 0 }).history.loss
  local strategy = gb.distribute.MirroredStrategy { devices = { "cpu:0", "cpu:1" } }
  local together
  strategy:scope(function() together = penalized() end)
  same(history, together:fit(x, y, { epochs = 2, batch_size = 12, verbose = 0 }).history.loss, 1e-5)
  same(flat(alone), flat(together), 1e-5)
end)

local function with_loss(weight)
  return layers.custom {
    name = "with_loss",
    build = function(self) self.inner = layers.Dense(3, { activity_regularizer = "l2(l2=0.01)" }) end,
    call = function(self, v)
      self:add_loss(v:square():mean() * weight)
      return self.inner(v)
    end,
  }
end

case("custom layers add losses, with those of the layers that they call", function()
  gb.config.set_seed(6)
  local model = gb.Sequential { gb.Input { 4 }, with_loss(0.5), layers.Dense(2) }
  local output = model(x)
  equal(#model.losses, 2)
  near(model.losses[1]:item() + model.losses[2]:item(),
    x:square():mean():item() * 0.5 + model.layers[1](x):square():sum():item() * 0.01 / 12, 1e-4)
  model:compile { optimizer = "sgd", loss = "mse" }
  local expected = (output - y):square():mean():item()
  for _, more in ipairs(model.losses) do expected = expected + more:item() end
  near(model:evaluate(x, y, { batch_size = 12 }).loss, expected, 1e-4)
  local step = gb.compile(function(v)
    local inner = model(v)
    local sum = inner:sum() * 0
    for _, more in ipairs(model.losses) do sum = sum + more end
    return sum
  end)
  local all = 0
  model(x)
  for _, more in ipairs(model.losses) do all = all + more:item() end
  near(step(x):item(), all, 1e-4)
end)

case("a loss that nothing else reads may hold a comparison", function()
  local layer = layers.custom {
    call = function(self, v)
      self:add_loss(gb.where(v:gt(0), v, v * 0):sum())
      return v * 1
    end,
  }
  layer(x)
  near(layer.losses[1]:item(), gb.where(x:gt(0), x, x * 0):sum():item(), 1e-4)
end)

case("what add_loss cannot take", function()
  local kept
  local layer = layers.custom { call = function(self, v) kept = self return v * 1 end }
  layer(x)
  raises("add_loss: losses are added in the call function of a custom layer", function() kept:add_loss(x) end)
  raises("add_loss: it is called with a colon", kept.add_loss, x)
  local whole = layers.custom { call = function(self, v) self:add_loss(v:argmax(-1)) return v * 1 end }
  raises("add_loss: a floating-point loss is expected, got int64", whole, x)
end)

case("regularizers of layers inside of a custom layer count", function()
  local layer = layers.custom {
    build = function(self) self.inner = layers.Dense(2, { kernel_regularizer = "l2(l2=0.1)" }) end,
    call = function(self, v) return self.inner(v) end,
  }
  local model = gb.Sequential { gb.Input { 4 }, layer }
  equal(#model.losses, 1)
  near(model.losses[1]:item(), model.weights[1]:square():sum():item() * 0.1, 1e-5)
end)

local function lengths(weight, axis) return weight:square():sum(axis):sqrt():reshape({ -1 }):to_table() end

case("constraints hold after each update, in fit and by hand, also of layers inside", function()
  local function made(dtype)
    return gb.Sequential {
      layers.Dense(3, { input_shape = { 4 }, dtype = dtype, kernel_constraint = gb.constraints.MaxNorm(0.5),
        bias_constraint = "non_neg" }),
      layers.custom {
        build = function(self) self.inner = layers.Dense(2, { kernel_constraint = "unit_norm", dtype = dtype }) end,
        call = function(self, v) return self.inner(v) end,
      },
    }
  end
  for _, dtype in ipairs { "float32", "mixed_bfloat16", "bfloat16" } do
    for _, way in ipairs { "fit", "by hand" } do
      local model = made(dtype)
      if way == "fit" then
        model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.5 }, loss = "mse" }
        model:fit(x, y, { batch_size = 4, verbose = 0 })
      else
        by_hand(model, 2)
      end
      local tolerance = dtype == "bfloat16" and 2e-2 or 1e-4
      for _, length in ipairs(lengths(model.weights[1]:cast "float32", 0)) do
        testing.is_true(length <= 0.5 + tolerance, way .. " in " .. dtype .. ": at most 0.5")
      end
      testing.is_true(model.weights[2]:min():item() >= 0, "a bias of at least 0")
      for _, length in ipairs(lengths(model.weights[3]:cast "float32", 0)) do near(length, 1, tolerance) end
    end
  end
end)

case("a layer around another has its regularizers and constraints", function()
  local lstm = layers.LSTM(2, { kernel_constraint = "unit_norm", recurrent_regularizer = "l2(l2=0.5)",
    bias_constraint = "non_neg", return_sequences = true })
  local dense = layers.Dense(3, { kernel_constraint = gb.constraints.MaxNorm(0.1), bias_regularizer = "l1" })
  local function made()
    gb.config.set_seed(4)
    return gb.Sequential { gb.Input { 2, 2 }, layers.Bidirectional(lstm), layers.TimeDistributed(dense),
      layers.custom {
        build = function(self)
          self.inner = layers.TimeDistributed(layers.Dense(1, { kernel_constraint = "non_neg" }))
        end,
        call = function(self, v) return self.inner(v) end,
      }, layers.Flatten() }
  end
  local model = made()
  equal(#model.losses, 3)
  near(model.losses[1]:item() + model.losses[2]:item(),
    (model.weights[2]:square():sum() + model.weights[5]:square():sum()):item() * 0.5, 1e-5)
  local rows = x:reshape { 12, 2, 2 }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.5 }, loss = "mse" }
  model:fit(rows, y, { verbose = 0 })
  for _, place in ipairs { 1, 4 } do
    for _, length in ipairs(lengths(model.weights[place], 0)) do near(length, 1, 1e-4) end
    testing.is_true(model.weights[place + 2]:min():item() >= 0, "a bias of at least 0")
  end
  for _, length in ipairs(lengths(model.weights[7], 0)) do testing.is_true(length <= 0.1001, "at most 0.1") end
  testing.is_true(model.weights[9]:min():item() >= 0, "a kernel of at least 0")
  local other = gb.model_from_json(gb.Sequential { gb.Input { 2, 2 }, layers.Bidirectional(lstm) }:to_json())
  equal(#other.losses, 2)
end)

case("a frozen layer is frozen inside of another", function()
  for _, wrapper in ipairs {
    layers.Bidirectional(layers.LSTM(2, { trainable = false, kernel_regularizer = "l2" })),
    layers.TimeDistributed(layers.Dense(2, { trainable = false, kernel_regularizer = "l2" })),
  } do
    local model = gb.Sequential { gb.Input { 3, 2 }, wrapper }
    equal({ #model.trainable_variables, #model.losses }, { 0, 0 })
  end
end)

case("cells inside of RNN have weight options, and are frozen by themselves", function()
  local cells = { layers.GRUCell(2, { kernel_regularizer = "l2", kernel_constraint = "unit_norm" }),
    layers.LSTMCell(3, { trainable = false, bias_regularizer = "l1" }) }
  local model = gb.Sequential { gb.Input { 3, 2 }, layers.RNN(cells) }
  equal({ #model.trainable_variables, #model.losses }, { 3, 1 })
  near(model.losses[1]:item(), model.weights[1]:square():sum():item() * 0.01, 1e-5)
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.5 }, loss = "mse" }
  model:fit(gb.random.normal({ 4, 3, 2 }, { seed = 3 }), gb.zeros { 4, 3 }, { verbose = 0 })
  for _, length in ipairs(lengths(model.weights[1], 0)) do near(length, 1, 1e-4) end
  raises("RNN: its GRUCell has an activity_regularizer", layers.RNN, layers.GRUCell(2, { activity_regularizer = "l2" }))
end)

case("a layer that a model names anew keeps its constraints", function()
  local first, second = layers.Dense(2, { kernel_constraint = "unit_norm" }), layers.Dense(2)
  first(x)
  local model = gb.Sequential { gb.Input { 4 }, layers.Dense(4), first, second }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit(x, y, { verbose = 0 })
  for _, length in ipairs(lengths(first.variables[1], 0)) do near(length, 1, 1e-4) end
end)

case("a step that loss scaling skips changes nothing", function()
  local model = gb.Sequential { layers.Dense(2, { input_shape = { 4 }, kernel_constraint = "min_max_norm(rate=0.5)" }) }
  local before = flat(model)
  local optimizer = gb.optimizers.LossScaleOptimizer(gb.optimizers.SGD { learning_rate = 0.1 })
  model:compile { optimizer = optimizer, loss = "mse" }
  model:fit(x, y + math.huge, { batch_size = 12, verbose = 0 })
  same(before, flat(model), 0)
end)

case("texts and options that are refused", function()
  equal(gb.constraints.NonNeg(), "non_neg")
  equal(gb.constraints.UnitNorm { axis = { 0, 1 } }, "unit_norm(axis=[0, 1])")
  equal(gb.constraints.MinMaxNorm { min_value = 0.5 }, "min_max_norm(min_value=0.5, max_value=1, rate=1, axis=[0])")
  raises("unknown constraint 'max_nrm' (did you mean 'max_norm'?)", layers.Dense, 2, { kernel_constraint = "max_nrm" })
  raises("Dense: option 'kernel_constraint': constraint 'max_norm(rate=1)': unknown argument 'rate'", layers.Dense, 2,
    { kernel_constraint = "max_norm(rate=1)" })
  raises("max_value at least min_value, got 2 to 1", gb.constraints.MinMaxNorm, { min_value = 2 })
  raises("rate must be 0 to 1, got 2", gb.constraints.MinMaxNorm, { rate = 2 })
  raises("'x' is no number", layers.Dense, 2, { kernel_constraint = "unit_norm(axis=x)" })
  raises("'0.5' is no axis", layers.Dense, 2, { kernel_constraint = "unit_norm(axis=[0, 0.5])" })
  raises("axis must name at least one axis", layers.Dense, 2, { kernel_constraint = "unit_norm(axis=[])" })
  local model = gb.Sequential { layers.Dense(2, { input_shape = { 4 }, kernel_constraint = "unit_norm(axis=2)" }) }
  model:compile { optimizer = "sgd", loss = "mse" }
  raises("constraint 'unit_norm(axis=2)': axis 2 is outside the variable 'dense/kernel', float32[4, 2]",
    function() model:fit(x, y, { verbose = 0 }) end)
  raises("TimeDistributed: its Dense has an activity_regularizer, which is possible for the TimeDistributed itself",
    layers.TimeDistributed, layers.Dense(2, { activity_regularizer = "l2" }))
  raises("unknown regularizer 'l3'", layers.Flatten, { activity_regularizer = "l3" })
  raises("has no activity that could be regularized", gb.Input, { shape = { 2 }, activity_regularizer = "l2" })
end)

case("options survive saving, and a model is made of its text", function()
  local model = gb.Sequential { layers.Dense(2, { input_shape = { 4 }, activity_regularizer = "l2",
    kernel_constraint = gb.constraints.MaxNorm { max_value = 1, axis = { 0, 1 } } }) }
  local text = model:to_json()
  testing.contains(text, "max_norm(max_value=1, axis=[0, 1])")
  local other = gb.model_from_json(text)
  equal(other:to_json(), text)
  other:set_weights(model:get_weights())
  same(model(x):reshape({ -1 }):to_table(), other(x):reshape({ -1 }):to_table(), 0)
  raises("model architecture: no JSON", gb.model_from_json, "{")
  raises("its input's shape is not known yet", function() gb.Sequential({ layers.Dense(2) }):to_json() end)
  local lambda = gb.Sequential { gb.Input { 2 }, layers.Lambda(function(v) return v * 2 end, { name = "twice" }) }
  raises("layer 'twice' needs a function of the script", gb.model_from_json, lambda:to_json())
  local again = gb.model_from_json(lambda:to_json(), { custom_objects = { twice = function(v) return v * 2 end } })
  equal(again(gb.ones { 1, 2 }):sum():item(), 4.0)
end)

case("weights of 16 bits are given back as they are", function()
  local model = gb.Sequential { layers.Dense(2, { input_shape = { 4 }, dtype = "bfloat16" }) }
  local weights = model:get_weights()
  equal(weights[1].dtype, "bfloat16")
  model:set_weights { weights[1] * 2, weights[2] }
  near((model.weights[1] - weights[1] * 2):abs():max():item(), 0, 0)
  raises("must be bfloat16[2], got float32[2]", function() model:set_weights { weights[1], gb.zeros { 2 } } end)
end)
