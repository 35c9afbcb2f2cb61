-- Training against Keras (training_values.lua, written by training.py): fit, callbacks, whole models, gradients of
-- gradients.
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/training_values.lua"
local close, copy, tensor, tensors = compare.close, compare.copy, compare.tensor, compare.tensors

compare.covers(gb.callbacks, { Profiler = "Keras has no such class", LambdaCallback = "fit_test.lua has its calls",
  TensorBoard = "fit_test.lua has its files" }, reference.callbacks)

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

local function metrics_of(case)
  local metrics = {}
  for index, metric in ipairs(case.metrics) do metrics[index] = made(gb.metrics, metric) end
  return metrics
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
  model:compile(copy(case.compiled, { optimizer = made(gb.optimizers, case.optimizer),
    loss = made(gb.losses, case.loss), metrics = case.metrics and metrics_of(case) }))
  model:set_weights(tensors(case.start))
  local x, y, slices = tensor(case.x), tensor(case.y), gb.data.Dataset.from_tensor_slices
  local validated = { [true] = { x, y }, dataset = slices({ x, y }):batch(3) }
  local called = copy({ epochs = 2, verbose = 0, validation_data = validated[case.validation or 0] }, case.options)
  if called.sample_weight then called.sample_weight = tensor(called.sample_weight) end
  local history
  if case.dataset then
    local weights = called.sample_weight
    called.sample_weight = nil
    history = model:fit(stages[case.dataset](slices { x, y, weights }), called)
  else
    history = model:fit(x, y, copy({ batch_size = 4, shuffle = false }, called))
  end
  close(history.epoch, case.epochs, 0, "epochs")
  close_history(history.history, case.history, 1e-5)
  close(model:get_weights(), case.after, 1e-5, "weights")
  close_history(model:evaluate(x, y, { batch_size = case.evaluate }), case.evaluated, 1e-5)
  close(model:predict(x, { batch_size = case.evaluate }), case.predicted, 1e-5, "prediction")
end, {
  ["steps_per_epoch of tensors"] = "each epoch begins with the first example; Keras goes on where the last one ended",
  ["steps_per_epoch of a dataset"] = "each epoch begins with the first example; Keras goes on where the last one ended",
  ["steps_per_epoch beyond the dataset's end"] = "a dataset that ends begins anew; Keras ends the training",
})

compare.run(reference.batches, function(case)
  local x, y = tensor(case.x), tensor(case.y)
  local model = gb.Sequential { gb.Input { 3 }, gb.layers.Dense(#case.start[2], { activation = case.activation }) }
  model:compile { optimizer = sgd(0.1), loss = case.loss, metrics = case.metrics }
  model:set_weights(tensors(case.start))
  for index, rows in ipairs { { 1, 4 }, { 5, 6 }, { 7, 9 } } do
    close_history(model:train_on_batch(x[rows], y[rows]), case.trained[index], 1e-5)
    close_history(model:test_on_batch(x[rows], y[rows]), case.tested[index], 1e-5)
  end
  close(model:predict_on_batch(x), case.predicted, 1e-5, "prediction")
  close(model:get_weights(), case.after, 1e-5, "weights")
end)

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
  local x, y = tensor(case.x), tensor(case.y)
  local model = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1, { activation = case.activation }) }
  model:compile { optimizer = sgd(case.rate), loss = case.loss, metrics = metrics_of(case) }
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
  for _, name in ipairs(case.names) do
    local file <close> = io.open(path .. name .. ".safetensors")
    close(file and name, name, 0, "a file of weights")
  end
  if case.columns then close_history(columns_of(path, case.options.separator or ","), case.columns, 1e-5) end
end, {
  ["EarlyStopping patience=2 restore_best_weights=True, not a number first"] =
    "what is not a number is never the best; Keras keeps the first figure whatever it is",
  ["ModelCheckpoint file=loss{loss:08.3f}-{epoch:d} save_best_only=True"] =
    "what is not a number is never the best; Keras keeps the first figure whatever it is",
  ["ModelCheckpoint file={epoch}"] = "without a format the epoch has two digits, so that names sort",
})

local function writing_into(log, name)
  local calls = {}
  for _, event in ipairs { "train_begin", "epoch_begin", "train_batch_begin", "train_batch_end", "train_end" } do
    calls["on_" .. event] = function(number) log[#log + 1] = name .. event .. (number and " " .. number or "") end
  end
  function calls.on_epoch_end(epoch, logs)
    local names = {}
    for figure in pairs(logs) do names[#names + 1] = figure end
    table.sort(names)
    log[#log + 1] = name .. "epoch_end " .. epoch .. " " .. table.concat(names, ",")
  end
  return calls
end

compare.run(reference.orders, function(case)
  local log, callbacks = {}, {}
  for index, name in ipairs(case.names) do callbacks[index] = writing_into(log, name) end
  local model, x = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1) }, gb.ones { 5, 1 }
  model:compile { optimizer = "sgd", loss = "mse", metrics = { "mae" } }
  model:fit(x, x, copy(case.options, { verbose = 0, validation_data = { x, x }, callbacks = callbacks }))
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
  local words = layers.Embedding(5, 3, { mask_zero = true, name = "words" })(tokens)
  return layers.LSTM(2, { return_sequences = true, name = "lstm" })(words)
end

local function tokens_as_masks(tokens)
  return layers.Dense(1, { name = "last" })(layers.GRU(2, { name = "gru" })(sequences(tokens)))
end

local function resized(x)
  local first = layers.Conv2D(2, 3, { padding = "same", name = "first" })(x)
  local larger = layers.Lambda(function(images) return gb.image.resize(images, { 7, 5 }) end)(first)
  return layers.Conv2D(1, 1, { name = "last" })(larger)
end

local function residual(x)
  local first = layers.Conv2D(3, 3, { padding = "same", use_bias = false, name = "first" })(x)
  first = layers.ReLU()(layers.BatchNormalization { momentum = 0.8, name = "norm" }(first))
  local joined = layers.Add() { first, layers.Conv2D(3, 1, { name = "side" })(x) }
  return layers.Dense(3, { activation = "softmax", name = "last" })(layers.GlobalAveragePooling2D()(joined))
end

local function autoencoder(x)
  x = layers.DepthwiseConv2D(3, { padding = "same", activation = "relu", name = "each" })(x)
  x = layers.SeparableConv2D(3, 2, { name = "pair" })(layers.MaxPooling2D(2)(x))
  x = layers.ZeroPadding2D { padding = { { 1, 0 }, { 0, 1 } } }(x)
  x = layers.Conv2DTranspose(2, 3, { strides = 2, padding = "same", name = "larger" })(x)
  x = layers.UpSampling2D({ 2, 1 }, { interpolation = "bilinear" })(layers.LeakyReLU()(x))
  return layers.Conv2D(2, 1, { name = "last" })(layers.AveragePooling2D({ 2, 1 })(x))
end

local function transformer(tokens)
  local words = layers.Embedding(5, 4, { name = "words" })(tokens)
  local before = layers.LayerNormalization { name = "before" }(words)
  local attention = layers.MultiHeadAttention(2, 2, { use_causal_mask = true, name = "attention" })
  local attended = layers.Add() { words, attention { before, before } }
  local wide = layers.Dense(6, { activation = "gelu", name = "wide" })
  local narrow = layers.Dense(4, { name = "narrow" })(wide(layers.RMSNormalization { name = "behind" }(attended)))
  return layers.Dense(5, { activation = "softmax", name = "last" })(layers.Add() { attended, narrow })
end

local function wrapped(x)
  x = layers.Conv1D(3, 2, { padding = "causal", activation = "tanh", name = "first" })(x)
  x = layers.Bidirectional(layers.LSTM(2, { return_sequences = true }), { name = "both" })(x)
  x = layers.TimeDistributed(layers.Dense(2), { name = "steps" })(x)
  x = layers.Bidirectional(layers.GRU(2), { merge_mode = "sum", name = "end" })(x)
  return layers.Dense(1, { name = "last" })(x)
end

local function penalized(tokens)
  local weights, some = gb.regularizers.L1L2 { l1 = 0.02, l2 = 0.1 }, gb.regularizers.L1(0.05)
  local x = layers.Embedding(5, 3, { embeddings_regularizer = weights, name = "words" })(tokens)
  x = layers.LSTM(2, {
    recurrent_regularizer = some, bias_regularizer = weights, return_sequences = true, name = "lstm" })(x)
  x = layers.LayerNormalization { gamma_regularizer = some, name = "norm" }(x)
  x = layers.Conv1D(2, 2, { kernel_regularizer = weights, name = "pairs" })(x)
  return layers.Dense(1, { name = "last" })(layers.GlobalMaxPooling1D()(x))
end

local function attended_to(x, y)
  local joined = layers.Concatenate() { layers.GroupQueryAttention(2, 4, 2, { name = "shared" }) { x, y }, x }
  return layers.Dense(1, { name = "last" })(layers.GlobalAveragePooling1D()(joined))
end

local function embedded(tokens)
  return layers.Embedding(5, 3, { mask_zero = true, name = "words" })(tokens)
end

local models = {
  ["operators on symbols, a shared layer, functions, a custom layer, two outputs"] = operators,
  ["frozen batch normalization infers in training"] = frozen,
  ["tokens as masks of LSTM and GRU"] = tokens_as_masks,
  ["masks in the loss of sequences"] = function(tokens)
    return layers.Dense(1, { name = "last" })(sequences(tokens))
  end,
  ["resized images between convolutions"] = resized,
  ["weights of two losses"] = operators,
  ["residual convolutions with batch normalization"] = residual,
  ["convolutions that shrink and grow images"] = autoencoder,
  ["a transformer's block"] = transformer,
  ["layers around layers"] = wrapped,
  ["penalties of layers of sequences"] = penalized,
  ["attention to another input"] = attended_to,
  ["tokens as masks of Bidirectional"] = function(tokens)
    local both = layers.Bidirectional(layers.LSTM(2), { name = "both" })
    return layers.Dense(1, { name = "last" })(both(embedded(tokens)))
  end,
  ["tokens as masks of pooling"] = function(tokens)
    return layers.Dense(1, { name = "last" })(layers.GlobalAveragePooling1D()(embedded(tokens)))
  end,
}

-- The model with its weights; what Keras has after training, in the model's order. Keras orders layers by depth,
-- gpubench by the calls: they are matched by name, and a layer's weights by their order.
local function model_of(case, inputs)
  local symbols, places, start, after = {}, {}, {}, {}
  for index, input in ipairs(inputs) do symbols[index] = compare.symbol(input) end
  local model = gb.Model { inputs = symbols, outputs = models[case.name](table.unpack(symbols)) }
  for index, layer in ipairs(case.layers) do
    places[layer] = places[layer] or {}
    table.insert(places[layer], index)
  end
  for index, variable in ipairs(model.variables) do
    local place = table.remove(places[variable.name:match "^[^/]+"], 1)
    start[index], after[index] = tensor(case.start[place]), case.after[place]
  end
  model:set_weights(start)
  return model, after
end

local compiled = { {}, { execution = "eager" }, { gradient_accumulation_steps = 2 }, { recompute = { "last" } } }
for _, options in ipairs(compiled) do
  print("compiled with " .. testing.show(options))
  local departures = {}
  if options.execution == "eager" then
    departures["a transformer's block"] = "eager, a chance below 1e-7 is limited; Keras looks behind the softmax"
  end
  if options.gradient_accumulation_steps then
    departures["residual convolutions with batch normalization"] = "each part of the batch is normalized by itself"
    departures["masks in the loss of sequences"] = "each part's loss is the mean of its own steps that are not masked"
  end
  compare.run(reference.models, function(case)
    local inputs, labels = tensors(case.inputs), tensors(case.labels)
    local model, after = model_of(case, inputs)
    local x, y = #inputs == 1 and inputs[1] or inputs, #labels == 1 and labels[1] or labels
    testing.equal(model:count_params(), case.parameters)
    local predicted = model:predict(x)
    close(#labels == 1 and { predicted } or predicted, case.predicted, 1e-5, "prediction")
    model:compile(copy(options, { optimizer = sgd(0.1), loss = case.loss, metrics = case.metrics,
      loss_weights = case.loss_weights }))
    local history = model:fit(x, y, { batch_size = #inputs[1], epochs = 2, shuffle = false, verbose = 0 }).history
    close_history(history, case.history, 1e-5)
    close(model:get_weights(), after, 1e-5, "weights")
  end, departures)
end

local functions = {
  maximum = function(x) return x:maximum(x * 0.2) end, sqrt = function(x) return (x:square() + 1):sqrt() end,
  log = function(x) return (x:square() + 1):log() end, division = function(x) return x / (x:square() + 1) end,
  power = function(x) return x ^ 3 end, linear = function(x) return x end,
  ["approximate gelu"] = function(x) return x:gelu(true) end,
  rsqrt = function(x) return (x:square() + 1):rsqrt() end,
  variance = function(x) return x * x:variance(-1, true) end, std = function(x) return x * x:std(-1, true) end,
  mean = function(x) return x * x:square():mean(-1, true) end, max = function(x) return x * x:max(-1, true) end,
  cumsum = function(x) return x:cumsum(1):square() end, matmul = function(x) return x:matmul(x:transpose()) end,
  where = function(x) return gb.where(x:gt(0), x ^ 3, x:square()) end,
  clip = function(x) return x:clip(-0.5, 0.5):square() end, abs = function(x) return x * x:abs() end,
  concat = function(x) return gb.concat({ x, 2 * x }, -1):square()[{ {}, { 2, 4 } }] end,
  gather = function(x) return x:gather(gb.tensor({ 2, 0, 2 }, { dtype = "int64" }), 1):square() end,
  exponent = function(x) return gb.full({ 3, 3 }, 2) ^ x end, minimum = function(x) return x:minimum(x:square()) end,
  normalization = gb.layers.LayerNormalization(),
}
functions.normalization(gb.ones { 3, 3 }) -- makes its weights

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
end, {
  ["second order, normalization"] = {
    "its gradient is one op, which has no rule", "'layer_norm_gradient' in 'layer_normalization" },
})

local tapes = {
  ["a variable that is assigned after it was read"] = function()
    local v = gb.Variable(3)
    local tape <close> = gb.tape()
    local y = v * v
    v:assign(10)
    return tape:gradient(y, v)
  end,
  ["an update between two gradients of one tape"] = function()
    local a, b = gb.Variable(2), gb.Variable(3)
    local outer <close> = gb.tape()
    local inner <close> = gb.tape()
    local found = inner:gradient(a * b * b, b)
    local second = a * a * b
    b:assign(100)
    return found, outer:gradient(second, a)
  end,
  ["a variable that is assigned before it is read"] = function()
    local v = gb.Variable(3)
    local tape <close> = gb.tape()
    v:assign(10)
    return tape:gradient(v * v, v)
  end,
  ["rounded numbers are constant"] = function()
    local v, w = gb.Variable { 0.3, 1.7 }, gb.Variable { 2, 5 }
    local tape <close> = gb.tape()
    return table.unpack(tape:gradient((v:round() * w):sum(), { v, w }))
  end,
  ["a variable that is not read"] = function()
    local v, w = gb.Variable { 0.3, 1.7 }, gb.Variable(2)
    local tape <close> = gb.tape()
    return table.unpack(tape:gradient((v * v):sum(), { w, v }))
  end,
}

local kept = { "what a gradient needs is not kept where its variable changes", "been written since" }

compare.run(reference.tapes, function(case)
  local found = { tapes[case.name]() }
  for index, expected in ipairs(case.gradients) do close(found[index], expected, 1e-6, "gradient " .. index) end
end, {
  ["a variable that is assigned after it was read"] = kept, ["an update between two gradients of one tape"] = kept,
})
