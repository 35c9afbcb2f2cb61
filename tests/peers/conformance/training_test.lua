-- Training against Keras (training_values.lua, written by training.py): fit, callbacks, whole models, gradients of
-- gradients.
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/training_values.lua"
local close, copy, tensor, tensors = compare.close, compare.copy, compare.tensor, compare.tensors

compare.covers(gb.callbacks, { Profiler = "Keras has no such class" }, reference.callbacks)

local penalties = {}
for _, case in ipairs(reference.fits) do table.insert(penalties, case.regularizers.kernel_regularizer) end
compare.covers(gb.regularizers, {}, penalties)

local function made(module, description)
  return type(description) == "table" and module[description.class](copy(description.options)) or description
end

local function sgd(rate)
  return gb.optimizers.SGD { learning_rate = rate }
end

-- Every figure of Keras' history, and no other.
local function close_history(history, expected, tolerance)
  for name in pairs(history) do testing.is_true(expected[name], "a figure of Keras: " .. name) end
  for name, figures in pairs(expected) do close(history[name], figures, tolerance, name) end
end

local stages = {
  ["batch"] = function(data) return data:batch(4) end,
  ["batch, repeated"] = function(data) return data:batch(4):repeated() end,
  ["repeated, batch"] = function(data) return data:repeated():batch(4) end,
}

compare.run(reference.fits, function(case)
  local options = { activation = case.activation }
  for name, penalty in pairs(case.regularizers) do options[name] = made(gb.regularizers, penalty) end
  local model = gb.Sequential { gb.Input { 3 }, gb.layers.Dense(#case.start[2], options) }
  model:compile(copy(case.compiled, { optimizer = sgd(0.1), loss = made(gb.losses, case.loss) }))
  model:set_weights(tensors(case.start))
  local x, y = tensor(case.x), tensor(case.y)
  local called = copy({ epochs = 2, verbose = 0, validation_data = case.validation and { x, y } }, case.options)
  if called.sample_weight then called.sample_weight = tensor(called.sample_weight) end
  local history
  if case.dataset then
    history = model:fit(stages[case.dataset](gb.data.Dataset.from_tensor_slices { x, y }), called)
  else
    history = model:fit(x, y, copy({ batch_size = 4, shuffle = false }, called))
  end
  close(history.epoch, case.epochs, 0, "epochs")
  close_history(history.history, case.history, 1e-5)
  close(model:get_weights(), case.after, 1e-5, "weights")
  close_history(model:evaluate(x, y, { batch_size = case.evaluate }), case.evaluated, 1e-5)
end, {
  ["steps_per_epoch of tensors"] = "each epoch begins with the first example; Keras goes on where the last one ended",
  ["steps_per_epoch of a dataset"] = "each epoch begins with the first example; Keras goes on where the last one ended",
  ["steps_per_epoch beyond the dataset's end"] = "a dataset that ends begins anew; Keras ends the training",
})

-- The columns of a CSVLogger's file.
local function columns_of(path, separator)
  local lines = io.lines(path)
  local names, columns = {}, {}
  for name in lines():gmatch("[^" .. separator .. "]+") do names[#names + 1], columns[name] = name, {} end
  for line in lines do
    local index = 0
    for number in line:gmatch("[^" .. separator .. "]+") do
      index = index + 1
      table.insert(columns[names[index]], tonumber(number))
    end
  end
  return columns
end

compare.run(reference.callbacks, function(case)
  local path = gb._native.options.out .. "/results/" .. case.name:gsub("[^%w]", "_")
  local constructors = {
    LearningRateScheduler = function(make)
      return make(function(epoch, rate) return rate * case.options.factors[epoch] end)
    end,
    ModelCheckpoint = function(make)
      local options = copy(case.options, { save_weights_only = true })
      options.file = nil
      return make(path .. case.options.file .. ".safetensors", options)
    end,
    CSVLogger = function(make) return make(path, copy(case.options)) end,
    TerminateOnNaN = function(make) return make() end,
  }
  local constructor = constructors[case.class] or function(make) return make(copy(case.options)) end
  local x, y, metrics = tensor(case.x), tensor(case.y), {}
  for index, metric in ipairs(case.metrics) do metrics[index] = made(gb.metrics, metric) end
  local model = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1, { activation = case.activation }) }
  model:compile { optimizer = sgd(case.rate), loss = case.loss, metrics = metrics }
  local set = { on_epoch_begin = function(epoch)
    model:set_weights { gb.tensor { { case.weights[epoch][1] } }, gb.tensor { case.weights[epoch][2] } }
  end }
  local history = model:fit(x, y, { epochs = #case.weights, batch_size = #x, verbose = 0, validation_data = { x, y },
    callbacks = { set, constructor(gb.callbacks[case.class]) } }).history
  close_history(history, case.history, 1e-5)
  for index, number in ipairs(case.final or {}) do
    close(model:get_weights()[index]:reshape { 1 }, { number }, 1e-5, "last weight " .. index)
  end
  local saved = {}
  for epoch = 1, 8 do
    local file = io.open(path .. epoch .. ".safetensors")
    if file then
      saved[#saved + 1] = epoch
      file:close()
    end
  end
  close(saved, case.saved, 0, "epochs whose weights are saved")
  if case.columns then close_history(columns_of(path, case.options.separator), case.columns, 1e-5) end
end, { ["ModelCheckpoint file={epoch}"] = "without a format the epoch has two digits, so that names sort" })

compare.run(reference.orders, function(case)
  local log, calls = {}, {}
  for _, event in ipairs { "train_begin", "epoch_begin", "train_batch_begin", "train_batch_end", "train_end" } do
    calls["on_" .. event] = function(number) log[#log + 1] = event .. (number and " " .. number or "") end
  end
  function calls.on_epoch_end(epoch, logs)
    local names = {}
    for name in pairs(logs) do names[#names + 1] = name end
    table.sort(names)
    log[#log + 1] = "epoch_end " .. epoch .. " " .. table.concat(names, ",")
  end
  local model, x = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1) }, gb.ones { 5, 1 }
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  model:fit(x, x, { batch_size = 2, epochs = 2, verbose = 0, validation_data = { x, x }, callbacks = { calls } })
  testing.equal(log, case.log)
end)

local layers = gb.layers

local function scaled()
  return layers.custom {
    name = "scaled",
    build = function(self, shape)
      self.scale = self:add_weight { name = "scale", shape = { shape[#shape] }, initializer = "ones" }
    end,
    call = function(self, x) return x * self.scale end,
  }
end

local function operators(a, b)
  local shared = layers.Dense(4, { name = "shared", activation = function(x) return x:maximum(0.1 * x) end })
  local first, second = shared(a), shared(b)
  local last = scaled()(gb.concat({ first * 2 - second, first:mean(-1, true) }, -1))
  local squashed = layers.Lambda(function(x) return x / (1 + x:abs()) end)(last)
  local kinds = layers.Dense(3, { name = "last", activation = "softmax" })
  return { layers.Dense(2, { name = "points" })(squashed), kinds(-last) }
end

local function frozen(x)
  local norm = layers.BatchNormalization { trainable = false, momentum = 0.5, name = "norm" }
  return layers.Dense(1, { name = "last" })(norm(x))
end

local function sequences(tokens)
  local words = layers.Embedding(5, 3, { name = "words" })(tokens)
  return layers.LSTM(2, { return_sequences = true, name = "lstm" }) { words, tokens }
end

local function tokens_as_masks(tokens)
  return layers.Dense(1, { name = "last" })(layers.GRU(2, { name = "gru" }) { sequences(tokens), tokens })
end

local function resized(x)
  local first = layers.Conv2D(2, 3, { padding = "same", name = "first" })(x)
  local larger = layers.Lambda(function(images) return gb.image.resize(images, { 7, 5 }) end)(first)
  return layers.Conv2D(1, 1, { name = "last" })(larger)
end

local models = {
  ["operators on symbols, a shared layer, functions, a custom layer, two outputs"] = operators,
  ["frozen batch normalization infers in training"] = frozen,
  ["tokens as masks of LSTM and GRU"] = tokens_as_masks,
  ["masks in the loss of sequences"] = function(tokens)
    return layers.Dense(1, { name = "last" })(sequences(tokens))
  end,
  ["resized images between convolutions"] = resized,
}

-- The model with its weights; what Keras has after training, in the model's order. Keras orders weights by depth,
-- gpubench by the calls: they are matched by name.
local function model_of(case, inputs)
  local symbols, known, start, after = {}, {}, {}, {}
  for index, input in ipairs(inputs) do symbols[index] = compare.symbol(input) end
  local model = gb.Model { inputs = symbols, outputs = models[case.name](table.unpack(symbols)) }
  for index, name in ipairs(case.names) do known[name] = index end
  for index, variable in ipairs(model.variables) do
    start[index], after[index] = tensor(case.start[known[variable.name]]), case.after[known[variable.name]]
  end
  model:set_weights(start)
  return model, after
end

local compiled = { {}, { execution = "eager" }, { gradient_accumulation_steps = 2 }, { recompute = { "last" } } }
for _, options in ipairs(compiled) do
  print("compiled with " .. testing.show(options))
  compare.run(reference.models, function(case)
    local inputs, labels = tensors(case.inputs), tensors(case.labels)
    local model, after = model_of(case, inputs)
    local x, y = #inputs == 1 and inputs[1] or inputs, #labels == 1 and labels[1] or labels
    testing.equal(model:count_params(), case.parameters)
    local predicted = model:predict(x)
    close(#labels == 1 and { predicted } or predicted, case.predicted, 1e-5, "prediction")
    model:compile(copy(options, { optimizer = sgd(0.1), loss = case.loss, metrics = case.metrics }))
    local history = model:fit(x, y, { batch_size = #inputs[1], epochs = 2, shuffle = false, verbose = 0 }).history
    close_history(history, case.history, 1e-5)
    close(model:get_weights(), after, 1e-5, "weights")
  end, { ["masks in the loss of sequences"] = "layers do not pass masks on, so the loss counts masked steps" })
end

local functions = {
  maximum = function(x) return x:maximum(x * 0.2) end, sqrt = function(x) return (x:square() + 1):sqrt() end,
  log = function(x) return (x:square() + 1):log() end, division = function(x) return x / (x:square() + 1) end,
  power = function(x) return x ^ 3 end, linear = function(x) return x end,
}

compare.run(reference.second_order, function(case)
  local a, b = gb.Variable(tensor(case.a)), gb.Variable(tensor(case.b))
  local apply = functions[case.op] or function(x) return x[case.op](x) end
  local function gradients(v)
    local outer <close> = gb.tape()
    local inner <close> = gb.tape()
    local first = inner:gradient(apply(v:matmul(a)):matmul(b):sum(), v)
    return table.unpack(outer:gradient(first:square():sum(), { a, b }))
  end
  for how, compute in pairs { eager = gradients, compiled = gb.compile(gradients) } do
    close({ compute(tensor(case.v)) }, case.gradients, 1e-4, how .. " gradient")
  end
end)
