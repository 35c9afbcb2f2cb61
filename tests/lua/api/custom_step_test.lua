-- Steps of training and evaluation that a script writes: model.train_step, model.test_step, model:compute_loss.
local gb = require "gpubench"
local testing = require "testing"
local equal, near, raises = testing.equal, testing.near, testing.raises

gb.config.set_logical_devices("cpu:0", { { threads = 1 }, { threads = 1 } })

local x = gb.tensor { { 1, 2 }, { 3, -1 }, { 0, 1 }, { 2, 2 }, { -1, 1 }, { 1, 0 } }
local y = gb.tensor { { 1 }, { 0 }, { 2 }, { 1 }, { 0 }, { 3 } }

local function linear(penalty)
  gb.config.set_seed(3)
  return gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 }, kernel_regularizer = penalty }) }
end

-- What fit's own step does.
local function plain(self, images, labels, weights)
  local tape <close> = gb.tape()
  local loss = self:compute_loss(images, labels, self(images, { training = true }), weights)
  self.optimizer:apply_gradients(tape:gradient(loss, self.trainable_variables), self.trainable_variables)
  return { loss = loss }
end

testing.case("the step of compile, written by hand, trains the same weights", function()
  local sum = gb.losses.MeanSquaredError { reduction = "sum" }
  for _, options in ipairs { {}, { execution = "eager" }, { loss = sum } } do
    local weights = {}
    for _, own in ipairs { false, true } do
      local model = linear(gb.regularizers.L2(0.1))
      if own then model.train_step = plain end
      model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.1 }, loss = options.loss or "mse",
        execution = options.execution }
      local history = model:fit(x, y, { epochs = 3, batch_size = 4, shuffle = false, verbose = 0 }).history
      equal(#history.loss, 3)
      table.insert(weights, model:get_weights())
    end
    for index, weight in ipairs(weights[1]) do
      near((weight - weights[2][index]):abs():max():item(), 0, 1e-6)
    end
  end
end)

testing.case("numbers show the latest step, metrics the epoch", function()
  local model, mean, traced = linear(), gb.metrics.Mean(), 0
  function model:train_step(images, labels)
    traced = traced + 1
    local loss = (self(images) - labels):square():mean()
    mean:update_state(loss)
    return { loss = mean, latest = loss, batch = images:mean() * 0 + 7 }
  end
  model:compile { optimizer = "sgd" }
  local losses, order = {}, nil
  local history = model:fit(x, y, { epochs = 2, batch_size = 2, shuffle = false, verbose = 0, callbacks = { {
    on_batch_end = function(batch, logs) losses[batch] = logs.latest end,
    on_epoch_end = function(_, logs)
      order = {}
      for name in pairs(logs) do order[#order + 1] = name end
    end } } }).history
  equal(traced, 1)
  equal(#order, 3)
  equal(history.latest[2], losses[3])
  near(history.loss[2], (losses[1] + losses[2] + losses[3]) / 3, 1e-5)
  equal(history.loss[1], history.loss[2])  -- nothing was trained, and the mean begins anew
  equal(history.batch, { 7.0, 7.0 })
  model:fit(x:rows(1, 3), y:rows(1, 3), { batch_size = 2, verbose = 0 })
  equal(traced, 2)  -- batches of one example
end)

testing.case("a test_step replaces what evaluate and validation do", function()
  local model, error = linear(), gb.metrics.MeanAbsoluteError()
  function model:test_step(images, labels)
    error:update_state(labels, self(images))
    return { mae = error }
  end
  model:compile { optimizer = "sgd", loss = "mse" }
  local alone = model:evaluate(x, y)
  equal(alone.loss, nil)
  near(alone.mae, (model(x) - y):abs():mean():item(), 1e-5)
  local history = model:fit(x, y, { epochs = 2, verbose = 0, validation_data = { x, y },
    callbacks = { gb.callbacks.EarlyStopping { monitor = "val_mae", patience = 9 } } }).history
  equal(#history.val_mae, 2)
  equal(#history.loss, 2)
  equal(history.val_loss, nil)
  near(model:test_on_batch(x, y).mae, history.val_mae[2], 1e-5)
  model.test_step = nil
  testing.is_true(model:evaluate(x, y).loss)
end)

testing.case("a step has as many optimizers, models and inputs as it likes", function()
  local maker = gb.Sequential { gb.layers.Dense(2, { input_shape = { 3 } }) }
  local critic = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
  local rates = { gb.optimizers.Adam { learning_rate = 0.05 }, gb.optimizers.Adam { learning_rate = 0.05 } }
  local chances = gb.losses.BinaryCrossentropy { from_logits = true }
  local before = { maker:get_weights()[1]:to_table(), critic:get_weights()[1]:to_table() }
  function maker:train_step(real)
    local noise = gb.random.normal { 3, 3 }
    local of_critic <close> = gb.tape()
    local judged = chances(gb.ones { 3, 1 }, critic(real)) + chances(gb.zeros { 3, 1 }, critic(self(noise)))
    rates[1]:apply_gradients(of_critic:gradient(judged, critic.trainable_variables), critic.trainable_variables)
    local of_maker <close> = gb.tape()
    local made = chances(gb.ones { 3, 1 }, critic(self(noise)))
    rates[2]:apply_gradients(of_maker:gradient(made, self.trainable_variables), self.trainable_variables)
    return { critic = judged, maker = made, noise = noise:mean() }
  end
  maker:compile {}
  local history = maker:fit(gb.data.Dataset.from_tensor_slices(x):batch(3), { epochs = 3, verbose = 0 }).history
  equal(#history.critic, 3)
  testing.is_true(history.noise[1] ~= history.noise[2], "noise is drawn anew")
  testing.is_true(testing.show(maker:get_weights()[1]:to_table()) ~= testing.show(before[1]))
  testing.is_true(testing.show(critic:get_weights()[1]:to_table()) ~= testing.show(before[2]))
  equal(rates[1].iterations, 6)
end)

testing.case("replicas share a step", function()
  local function trained(replicas)
    local strategy = gb.distribute.MirroredStrategy { devices = replicas }
    local history, weights
    strategy:scope(function()
      local model = linear()
      model.train_step = plain
      model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, loss = "mse" }
      history = model:fit(x, y, { epochs = 2, batch_size = 6, shuffle = false, verbose = 0 }).history
      weights = model:get_weights()[1]:to_table()
      if #replicas > 1 then
        raises("leaves a replica without examples",
          function() model:fit(x:rows(1, 1), y:rows(1, 1), { verbose = 0 }) end)
      end
    end)
    return history, weights
  end
  local alone, weight_alone = trained { "cpu:0" }
  local two, weight_two = trained { "cpu:0", "cpu:1" }
  for epoch = 1, 2 do near(two.loss[epoch], alone.loss[epoch], 1e-5) end
  for row = 1, 2 do near(weight_two[row][1], weight_alone[row][1], 1e-6) end
end)

testing.case("memory and 16 bits", function()
  local model = linear()
  model.train_step = plain
  model:compile { optimizer = "adam", loss = "mse" }
  testing.is_true(model:memory(4).total > 0)
  gb.config.set_dtype_policy "mixed_float16"
  local narrow = linear()
  function narrow:train_step(images, labels)
    local tape <close> = gb.tape()
    local loss = self:compute_loss(images, labels, self(images, { training = true }))
    local scaled = self.optimizer:get_scaled_loss(loss)
    local gradients = self.optimizer:get_unscaled_gradients(tape:gradient(scaled, self.trainable_variables))
    self.optimizer:apply_gradients(gradients, self.trainable_variables)
    return { loss = loss }
  end
  narrow:compile { optimizer = "sgd", loss = "mse" }
  gb.config.set_dtype_policy "float32"
  equal(narrow.optimizer.name, "loss_scale_optimizer")
  local history = narrow:fit(x, y, { epochs = 4, verbose = 0 }).history
  testing.is_true(history.loss[4] < history.loss[1])
end)

testing.case("the loss of compile by itself", function()
  local model = linear()
  equal(model.optimizer, nil)
  raises("compute_loss: compile was given no loss", function() model:compute_loss(x, y, y) end)
  local sgd = gb.optimizers.SGD()
  model:compile { optimizer = sgd, loss = "mse" }
  testing.is_true(model.optimizer == sgd, "the optimizer is the one that compile was given")
  near(model:compute_loss(x, y, model(x)):item(), model:evaluate(x, y).loss, 1e-5)
  near(model:compute_loss(nil, y, y + 2, gb.tensor { 1, 0, 0, 0, 0, 0 }):item(), 4 / 6, 1e-5)
  raises("takes 1 label and as many predictions, and may take weights; got 0 labels, 1 predictions and 0 weights",
    function() model:compute_loss(x, nil, y) end)
end)

testing.case("the loss has what layers add and their penalties", function()
  local histories = {}
  for _, own in ipairs { false, true } do
    gb.config.set_seed(3)
    local adding = gb.layers.custom { call = function(self, values)
      self:add_loss(values:square():mean() * 0.5)
      return values
    end }
    local model = gb.Sequential { gb.Input { 2 }, adding, gb.layers.Dense(1, {
      activity_regularizer = "l2", kernel_regularizer = gb.regularizers.L2(0.1) }) }
    if own then
      model.train_step = plain
      function model:test_step(images, labels) return { loss = self:compute_loss(images, labels, self(images)) } end
    end
    model:compile { optimizer = "sgd", loss = "mse" }
    histories[#histories + 1] = model:fit(x, y, { epochs = 3, batch_size = 6, verbose = 0 }).history.loss
    local whole = model:evaluate(x, y, { batch_size = 6 }).loss
    if own then equal(#model.losses, 1) end  -- what the traced steps added has ended with them
    testing.is_true(model:compute_loss(x, y, y):item() > 0)
    near(model:compute_loss(x, y, model(x)):item(), whole, 1e-5)
    equal(#model.losses, 3)
  end
  for epoch = 1, 3 do near(histories[2][epoch], histories[1][epoch], 1e-5) end
end)

testing.case("what a step may not return or be combined with", function()
  local function fit(step, options)
    local model = linear()
    model.train_step = step
    model:compile(options or {})
    return model:fit(x, y, { verbose = 0, batch_size = 2 })
  end
  raises("train_step: it must return its figures by name, such as { loss = loss }, and returned nil",
    function() fit(function() end) end)
  raises("train_step: names of figures are texts", function() fit(function(_, images) return { images:mean() } end) end)
  raises("figure 'a': one number is expected, got float32[2, 2]; take its mean",
    function() fit(function(_, images) return { a = images } end) end)
  raises("figure 'a': a tensor of one number, or a metric, is expected, got string",
    function() fit(function() return { a = "b" } end) end)
  local mean = gb.metrics.Mean()
  raises("metric 'mean': result() is a number, which it does not have while a function is traced", function()
    fit(function(_, images)
      mean:update_state(images:mean())
      return { a = mean:result() }
    end)
  end)
  raises("metric 'a' was not updated", function() fit(function() return { a = gb.metrics.Mean() } end) end)
  raises("train_step: for one batch it returned the figures a, for another b", function()
    local model = linear()
    function model:train_step(images) return { [images.shape[1] == 4 and "a" or "b"] = images:mean() } end
    model:compile {}
    model:fit(x, y, { verbose = 0, batch_size = 4 })
  end)
  for option, value in pairs { gradient_accumulation_steps = 2, recompute = { "dense" }, recompute_budget = 1 << 20 } do
    raises("its train_step replaces the step that " .. option .. " would change",
      function() fit(plain, { loss = "mse", [option] = value }) end)
  end
  raises("option 'metrics': goes with a loss", function() fit(plain, { metrics = { "mae" } }) end)
  raises("option 'loss' is required", function() linear():compile { optimizer = "sgd" } end)
  raises("function expected, got string", function() linear().train_step = "step" end)
  local model = linear()
  model.train_step = plain
  model:compile {}
  raises("compile was given no loss, which evaluation needs; give it one, or write model:test_step",
    function() model:evaluate(x, y) end)
  raises("compile was given no loss, which evaluation needs",
    function() model:fit(x, y, { verbose = 0, validation_data = { x, y } }) end)
  model:compile { loss = "mse" }
  raises("class_weight: model 'sequential' has a train_step of its own",
    function() model:fit(x, y, { verbose = 0, class_weight = { [0] = 2 } }) end)
  raises("and model 'sequential' has a train_step whose optimizers are the script's",
    function() model:fit(x, y, { verbose = 0, batch_size = gb.AUTOTUNE }) end)
  raises("fit: resume saves the optimizer of compile", function()
    model:fit(x, y, { verbose = 0, resume = gb._native.options.out .. "/results/own.safetensors" })
  end)
  model:fit(x, y, { verbose = 0, callbacks = { { on_batch_end = function()
    raises("another train_step: model 'sequential' is being trained", function() model.train_step = nil end)
  end } } })
  model.train_step = nil
  equal(model.train_step, nil)
  equal(#model:fit(x, y, { verbose = 0 }).history.loss, 1)
end)
