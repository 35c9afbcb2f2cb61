-- fit, evaluate and predict against Keras (fit_values.lua, written by fit.py): validation, callbacks around all three,
-- steps that a script writes, event files of TensorBoard.
local gb = require "gpubench"
local events = require "events"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/fit_values.lua"
local close, copy, tensor, tensors = compare.close, compare.copy, compare.tensor, compare.tensors

local slices = gb.data.Dataset.from_tensor_slices

local function close_history(history, expected, tolerance)
  for name in pairs(history) do testing.is_true(expected[name], "a figure of Keras: " .. name) end
  for name, figures in pairs(expected) do close(history[name], figures, tolerance, name) end
end

local function dense(case, options)
  local model = gb.Sequential { gb.Input { #case.start[1] }, gb.layers.Dense(#case.start[2], options) }
  model:set_weights(tensors(case.start))
  return model
end

compare.run(reference.passes, function(case)
  local x, y, model = tensor(case.x), tensor(case.y), dense(case)
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, loss = "mse", metrics = { "mae" } }
  local data = slices({ x, y }):batch(3)
  if case.stages == "repeated" then data = data:repeated() end
  local validation = case.stages == "" and { x, y } or data
  local history = model:fit(x, y, copy({ epochs = 2, batch_size = 4, shuffle = false, verbose = 0,
    validation_data = validation }, case.options)).history
  close_history(history, case.history, 1e-5)
  close(model:get_weights(), case.after, 1e-5, "weights")
  local evaluated = case.stages == "" and model:evaluate(x, y, copy(case.evaluate))
    or model:evaluate(data, copy(case.evaluate))
  close_history(evaluated, case.evaluated, 1e-5)
  close(model:predict(case.stages == "" and x or data, copy(case.evaluate)), case.predicted, 1e-5, "prediction")
end)

local function writing_into(log, name)
  local calls = {}
  for _, event in ipairs { "train_begin", "epoch_begin", "train_batch_begin", "train_batch_end", "epoch_end",
    "train_end", "test_begin", "test_batch_begin", "test_batch_end", "test_end", "predict_begin",
    "predict_batch_begin", "predict_batch_end", "predict_end" } do
    calls["on_" .. event] = function(given)
      log[#log + 1] = name .. event .. (math.type(given) == "integer" and " " .. given or "")
    end
  end
  return calls
end

compare.run(reference.orders, function(case)
  local log, callbacks = {}, {}
  for index, name in ipairs(case.names) do callbacks[index] = writing_into(log, name) end
  local model, x = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1) }, gb.ones { 5, 1 }
  model:compile { optimizer = "sgd", loss = "mse" }
  model:fit(x, x, copy(case.options, { batch_size = 2, verbose = 0, validation_data = { x, x },
    callbacks = callbacks }))
  model:evaluate(x, x, { batch_size = 3, callbacks = callbacks })
  model:predict(x, { batch_size = 3, callbacks = callbacks })
  testing.equal(log, case.log)
end)

compare.run(reference.callbacks, function(case)
  local x, y = gb.ones { 2, 1 }, gb.zeros { 2, 1 }
  local model = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1, { use_bias = false }) }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = case.rate }, loss = "mse" }
  local path = gb._native.options.out .. "/results/" .. case.name:gsub("[^%w]", "_")
  local made
  if case.class == "ModelCheckpoint" then
    for epoch = 1, 8 do os.remove(path .. epoch .. ".safetensors") end
    made = gb.callbacks.ModelCheckpoint(path .. "{epoch:d}.safetensors",
      copy(case.options, { save_weights_only = true }))
  else
    made = gb.callbacks[case.class](copy(case.options))
  end
  local set = { on_epoch_begin = function(epoch)
    model:set_weights { gb.tensor { { case.weights[epoch] } } }
  end }
  local history = model:fit(x, y, { epochs = #case.weights, batch_size = 2, verbose = 0, validation_data = { x, y },
    validation_freq = case.freq, callbacks = { set, made } }).history
  close_history(history, case.history, 1e-5)
  if case.final then close(model:get_weights()[1]:item(), case.final, 1e-5, "last weight") end
  local saved = {}
  for epoch = 1, 8 do
    local file <close> = io.open(path .. epoch .. ".safetensors")
    if file then saved[#saved + 1] = epoch end
  end
  close(saved, case.saved, 0, "epochs whose weights are saved")
end)

-- The step of a class of fit.py, for a model.
local steps = {
  Guide = function(model)
    local loss_tracker, mae = gb.metrics.Mean(), gb.metrics.MeanAbsoluteError()
    function model:train_step(x, y)
      local tape <close> = gb.tape()
      local predicted = self(x, { training = true })
      local loss = (y - predicted):square():mean(-1)
      local gradients = tape:gradient(loss:sum(), self.trainable_variables)
      self.optimizer:apply_gradients(gradients, self.trainable_variables)
      loss_tracker:update_state(loss)
      mae:update_state(y, predicted)
      return { loss = loss_tracker, mae = mae }
    end
    function model:test_step(x, y)
      mae:update_state(y, self(x))
      return { mae = mae }
    end
  end,
  OfCompile = function(model)
    function model:train_step(x, y, weights)
      local tape <close> = gb.tape()
      local loss = self:compute_loss(x, y, self(x, { training = true }), weights)
      local gradients = tape:gradient(loss, self.trainable_variables)
      self.optimizer:apply_gradients(gradients, self.trainable_variables)
      return { now = loss, size = gradients[1]:square():sum() }
    end
  end,
  Rival = function(model)
    local factor, other = gb.Variable { { 1, 1 } }, gb.optimizers.Adam { learning_rate = 0.1 }
    function model:train_step(x, y)
      local of_gap <close> = gb.tape()
      local of_other <close> = gb.tape()
      local gap = (factor * (y - self(x, { training = true }))):square():mean()
      local against = factor:square():mean() - gap
      local own = of_gap:gradient(gap, self.trainable_variables)
      other:apply_gradients({ of_other:gradient(against, factor) }, { factor })
      self.optimizer:apply_gradients(own, self.trainable_variables)
      return { gap = gap, against = against }
    end
  end,
}

for _, execution in ipairs { "graph", "eager" } do
  compare.run(reference.steps, function(case)
    local model = dense(case, { kernel_regularizer = case.loss and gb.regularizers.L2(0.1) })
    steps[case.step](model)
    model:compile { optimizer = gb.optimizers[case.optimizer.class](copy(case.optimizer.options)), loss = case.loss,
      execution = execution }
    local data = slices({ tensor(case.x), tensor(case.y), case.weights and tensor(case.weights) }):batch(4)
    local history = model:fit(data, { epochs = 3, verbose = 0, validation_data = case.validated and data or nil })
    close_history(history.history, case.history, 1e-5)
    close(model:get_weights(), case.after, 1e-5, "weights")
  end)
end

compare.run(reference.boards, function(case)
  local x, y, model = tensor(case.x), tensor(case.y), dense(case)
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, loss = "mse", metrics = { "mae" } }
  local folder = string.format("%s/results/%s-%d-%d", gb._native.options.out, case.name:gsub("[^%w]", "_"), os.time(),
    math.floor(os.clock() * 1e6))
  model:fit(x, y, { epochs = 2, batch_size = 4, shuffle = false, verbose = 0,
    validation_data = case.validates and { x, y } or nil,
    callbacks = { gb.callbacks.TensorBoard(folder, copy(case.options)) } })
  for _, part in ipairs(case.scalars) do
    local written, expected = events.read(folder .. "/" .. part.folder), {}
    for index, tag in ipairs(part.tags) do expected[tag] = part.values[index] end
    close_history(written, expected, 1e-5)
  end
end)
