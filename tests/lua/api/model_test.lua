local gb = require "gpubench"
local testing = require "testing"
local thirds = require "thirds"

local function small()
  return gb.Sequential {
    gb.layers.Dense(8, { activation = "tanh", input_shape = { 2 } }),
    gb.layers.Dense(2, { activation = "softmax" }),
  }
end

local x = gb.tensor { { 0, 1 }, { 1, 0 }, { 0.1, 0.9 }, { 0.9, 0.2 } }
local y = gb.tensor({ 0, 1, 0, 1 }, { dtype = "int64" })

testing.case("a model computes eagerly, traced and by predict the same", function()
  local model = small()
  local eager = model(x):to_table()
  local traced = gb.compile(function(t) return model(t) end)(x):to_table()
  local planned = model:predict(x, { batch_size = 3 }):to_table()
  for i = 1, 4 do
    for k = 1, 2 do
      testing.near(traced[i][k], eager[i][k], 1e-6)  -- fused kernels round elsewhere
      testing.near(planned[i][k], eager[i][k], 1e-6)
    end
  end
end)

for _, dtype in ipairs { "bfloat16", "float16" } do
  for _, eager in ipairs { false, true } do
    testing.case(dtype .. ": a whole model trains in it" .. (eager and " eagerly" or ""), function()
      gb.config.set_seed(3)
      gb.config.set_floatx(dtype)
      local model = thirds.convolutional()
      gb.config.set_floatx "float32"
      local inputs, labels = thirds.tensors(96)
      model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.02, epsilon = 1e-4 },
        loss = "sparse_categorical_crossentropy", metrics = { "accuracy" }, run_eagerly = eager }
      model:fit(inputs, labels, { epochs = 15, batch_size = 16, verbose = 0 })
      testing.is_true(model:evaluate(inputs, labels).accuracy >= 0.9, "at least 90 % right")
      testing.equal(model:predict(inputs).dtype, dtype)
      for _, weight in ipairs(model.variables) do testing.equal(weight.dtype, dtype) end
      local data = gb.data.Dataset.from_tensor_slices { inputs, labels }:batch(16)
      local row = gb.measure.training(model, data, { budget = 0.05, min_time = 0.01 })
      testing.equal(row.precision, dtype)
      testing.is_true(row.mfu > 0, "mfu is a share of the best product in the model's type")
    end)
  end
end

testing.case("set_floatx refuses other types, and a layer's own dtype comes first", function()
  testing.equal(gb.config.floatx(), "float32")
  testing.raises("the type is 'float32', 'float16' or 'bfloat16', got 'int8'", gb.config.set_floatx, "int8")
  local model = gb.Sequential { gb.layers.Dense(2, { dtype = "bfloat16", input_shape = { 3 } }) }
  testing.equal(model(gb.ones { 1, 3 }).dtype, "bfloat16")
  testing.raises("its variables are floating-point, got dtype 'int64'", function()
    gb.layers.Dense(2, { dtype = "int64" })(gb.ones { 1, 3 })
  end)
end)

testing.case("resident batches are trained on again and again", function()
  local model = small()
  model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
  local data = gb.data.Dataset.from_tensor_slices { x, y }
  local row = gb.measure.training(model, data:batch(2), { budget = 0.05, min_time = 0.01, resident = true })
  testing.is_true(row.steps > 2 and row.batch_size == 2 and row.loss > 0, "steps")
  testing.raises("resident batches must be equal, got 3 and 1 examples", gb.measure.training, model, data:batch(3),
    { budget = 0.05, resident = true })
end)

testing.case("fit learns, and its history counts epochs from 1", function()
  local model = small()
  model:compile { optimizer = gb.optimizers.Adam { learning_rate = 0.05 }, loss = "sparse_categorical_crossentropy",
    metrics = { "accuracy", gb.metrics.TopKCategoricalAccuracy { k = 2 } } }
  local history = model:fit(x, y, { epochs = 60, batch_size = 2, validation_data = { x, y } })
  testing.equal(#history.epoch, 60)
  testing.equal(history.epoch[1], 1)
  testing.is_true(history.history.accuracy[60] == 1)
  testing.is_true(history.history.top_k_categorical_accuracy[60] == 1)
  testing.is_true(history.history.val_accuracy[60] == 1)
  local figures = model:evaluate(gb.data.Dataset.from_tensor_slices { x, y }:batch(2))
  testing.is_true(figures.accuracy == 1)
end)

testing.case("the documented loop with a tape learns what fit learns", function()
  local model, optimizer, loss_fn = small(), gb.optimizers.SGD { learning_rate = 0.5 },
    gb.losses.SparseCategoricalCrossentropy()
  local dataset = gb.data.Dataset.from_tensor_slices { x, y }:batch(2)
  local last
  for _ = 1, 60 do
    for inputs, labels in dataset:iter() do
      local tape <close> = gb.tape()
      local predictions = model(inputs, { training = true })
      last = loss_fn(labels, predictions)
      local gradients = tape:gradient(last, model.trainable_variables)
      optimizer:apply_gradients(gradients, model.trainable_variables)
    end
  end
  testing.is_true(last:item() < 0.1, "a small loss")
  testing.equal(optimizer.iterations, 120)
end)

testing.case("a compiled loop gives the same weights as the eager one", function()
  local first, second = small(), small()
  second:set_weights(first:get_weights())
  local loss_fn = gb.losses.SparseCategoricalCrossentropy()
  local function step_of(model, optimizer)
    return function(inputs, labels)
      local tape = gb.tape()
      local loss = loss_fn(labels, model(inputs, { training = true }))
      optimizer:apply_gradients(tape:gradient(loss, model.trainable_variables), model.trainable_variables)
      return loss
    end
  end
  local eager = step_of(first, gb.optimizers.Adam())
  local compiled = gb.compile(step_of(second, gb.optimizers.Adam()))
  for _ = 1, 5 do
    testing.is_true(math.abs(eager(x, y):item() - compiled(x, y):item()) < 1e-5)
  end
  local a, b = first:get_weights()[1]:to_table(), second:get_weights()[1]:to_table()
  for k = 1, 8 do testing.is_true(math.abs(a[1][k] - b[1][k]) < 1e-5) end
end)

testing.case("accumulated gradients equal those of the whole batch", function()
  local model, loss_fn = small(), gb.losses.SparseCategoricalCrossentropy()
  local function gradients(inputs, labels)
    local tape <close> = gb.tape()
    return tape:gradient(loss_fn(labels, model(inputs)), model.trainable_variables)
  end
  local whole = gradients(x, y)
  local first, second = gradients(x[{ 1, 2 }], y[{ 1, 2 }]), gradients(x[{ 3, 4 }], y[{ 3, 4 }])
  for i = 1, #whole do
    local difference = ((first[i] + second[i]) / 2 - whole[i]):abs():max():item()
    testing.is_true(difference < 1e-6)
  end
end)

testing.case("losses and metrics can be functions of the script", function()
  local model = small()
  model:compile {
    optimizer = "sgd",
    loss = function(labels, predictions) return ((predictions - labels:one_hot(2)) ^ 2):mean(-1) end,
    metrics = { function(_, predictions) return predictions:max(-1) end },
  }
  local history = model:fit(x, y, { epochs = 2, batch_size = 4 }).history
  testing.is_true(history.loss[2] < history.loss[1])
  testing.is_true(history.metric_1[1] > 0.4)
end)

testing.case("the same seed gives the same weights", function()
  gb.config.set_seed(5)
  local first = small():get_weights()[1]:to_table()
  gb.config.set_seed(5)
  testing.equal(small():get_weights()[1]:to_table(), first)
  testing.is_true(small():get_weights()[1]:to_table()[1][1] ~= first[1][1])
end)

testing.case("eager and graph execution agree", function()
  local function train(options)
    gb.config.set_seed(3)
    local model = small()
    options.optimizer, options.loss = "adam", "sparse_categorical_crossentropy"
    model:compile(options)
    return model:fit(x, y, { epochs = 3, batch_size = 2 }).history.loss[3]
  end
  local graph = train {}
  testing.is_true(math.abs(train { run_eagerly = true } - graph) < 1e-5)
  testing.is_true(math.abs(train { execution = "eager" } - graph) < 1e-5)
  testing.is_true(math.abs(train { passes = { fuse_epilogue = false } } - graph) < 1e-5)
end)

testing.case("a saved model is the same when it is loaded", function()
  local model = small()
  local path = gb._native.options.out .. "/results/saved"
  model:save(path)
  local loaded = gb.load_model(path)
  testing.equal(loaded(x):to_table(), model(x):to_table())
  testing.equal(loaded:summary_text(), model:summary_text())
  testing.raises("cannot be opened", gb.load_model, path .. "-not-there")
  testing.raises("Model:save", model.save, model, "/tmp/outside")
end)

testing.case("branches, residuals and models as layers", function()
  local input = gb.Input { 2 }
  local hidden = gb.layers.Dense(2, { activation = "relu" })(input)
  local sum = gb.layers.Add() { hidden, input }
  local both = gb.layers.Concatenate() { sum, hidden }
  local inner = gb.Model { inputs = input, outputs = both, name = "inner" }
  testing.equal(inner(x).shape, { 4, 4 })
  local outer = gb.Model { inputs = input, outputs = { gb.layers.Dense(3)(inner(input)), both } }
  local outputs = outer(x)
  testing.equal(outputs[1].shape, { 4, 3 })
  testing.equal(outputs[2].shape, { 4, 4 })
end)

testing.case("callbacks are called in their order", function()
  local model, calls = small(), {}
  model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy" }
  local history = model:fit(x, y, {
    epochs = 5,
    batch_size = 2,
    callbacks = {
      gb.callbacks.LearningRateScheduler(function(epoch) return 0.1 / epoch end),
      {
        on_train_begin = function() calls[#calls + 1] = "begin" end,
        on_batch_end = function(batch, logs) calls[#calls + 1] = batch .. (logs.loss > 0 and "" or "?") end,
        on_epoch_end = function(epoch) return epoch < 2 end,
        on_train_end = function() calls[#calls + 1] = "end" end,
      },
    },
  })
  testing.equal(table.concat(calls, " "), "begin 1 2 1 2 end")
  testing.is_true(math.abs(history.history.learning_rate[2] - 0.05) < 1e-6)
end)

testing.case("early stopping ends the training", function()
  local model = small()
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0 }, loss = "sparse_categorical_crossentropy" }
  local history = model:fit(x, y, { epochs = 50, validation_data = { x, y },
    callbacks = { gb.callbacks.EarlyStopping { patience = 3, restore_best_weights = true } } })
  testing.equal(#history.epoch, 4)
end)

testing.case("layers remember the device of their scope", function()
  local model = gb.device(gb.devices()[1], small)
  testing.equal(model.variables[1].device, gb.devices()[1])
end)

testing.case("dropout draws anew in every training call and not otherwise", function()
  local layer = gb.layers.Dropout(0.5)
  local ones = gb.ones { 8, 8 }
  local first, second = layer(ones, { training = true }):to_table(), layer(ones, { training = true }):to_table()
  local same = true
  for i = 1, 8 do
    for k = 1, 8 do same = same and first[i][k] == second[i][k] end
  end
  testing.is_true(not same)
  testing.equal(layer(ones):to_table(), ones:to_table())
end)

testing.case("gb.measure.training gives the standard columns", function()
  local model = small()
  model:compile { optimizer = "adam", loss = "sparse_categorical_crossentropy", metrics = { "accuracy" } }
  local row = gb.measure.training(model, gb.data.Dataset.from_tensor_slices { x, y }:batch(2),
    { budget = 0.05, min_time = 0.01, warmup = 0.05 })
  testing.equal(row.batch_size, 2)
  testing.equal(row.execution, "graph")
  testing.equal(#row.samples, row.steps)
  for _, column in ipairs { "examples_per_s", "step_time_s", "flops_per_step", "peak_memory_bytes", "warmup_s" } do
    testing.is_true(row[column] > 0, column)
  end
  testing.is_true(row.input_wait_share >= 0 and row.input_wait_share <= 1)
  if row.copy_share == nil then  -- on a GPU where nothing can be traced
    testing.is_true(row.detail:find "^no shares but the input's: ", row.detail)
  else
    testing.is_true(row.copy_share >= 0 and row.copy_share <= 1)
  end
end)

testing.case("times that cannot be are refused, and both are named", function()
  local model = small()
  model:compile { loss = "sparse_categorical_crossentropy" }
  local input = gb.data.Dataset.from_tensor_slices { x, y }:batch(2)
  local step = function(images) return gb.sum(images) end
  for _, measure in ipairs {
    function(options) return gb.measure.training(model, input, options) end,
    function(options) return gb.measure.input_proof(model, input, options) end,
    function(options) return gb.measure.pipeline(input, options) end,
    function(options) return gb.measure.loop(step, input, options) end,
  } do
    testing.raises("a min_time of 2 s is more than the budget of 0.2 s", measure, { budget = 0.2, min_time = 2 })
    testing.raises("a budget of -1 s and a min_time of ", measure, { budget = -1 })
    testing.raises("a budget of 0 s and a min_time of ", measure, { budget = 0 })
    testing.raises("a budget of 0.2 s and a min_time of -1 s; both must be above 0", measure,
      { budget = 0.2, min_time = -1 })
  end
end)

testing.case("an input_proof needs two whole batches, and says so under its name", function()
  local model = small()
  model:compile { loss = "sparse_categorical_crossentropy" }
  local input = gb.data.Dataset.from_tensor_slices { x, y }:batch(3)
  testing.raises("measure.input_proof: resident batches must be equal, got 3 and 1 examples", gb.measure.input_proof,
    model, input, { budget = 10, min_time = 0.02, relative_error = 10, warmup = 0.02 })
end)

testing.case("a trace is for chrome://tracing, and is asked for by a boolean", function()
  local model = small()
  model:compile { loss = "sparse_categorical_crossentropy" }
  local input = gb.data.Dataset.from_tensor_slices { x, y }:batch(2)
  testing.raises("option 'trace': boolean expected, got number", gb.measure.training, model, input, { trace = 1 })
  if gb.devices()[1] ~= "cpu:0" then return end
  local row = gb.measure.training(model, input, { budget = 0.05, min_time = 0.01, warmup = 0.05, trace = true })
  testing.is_true(row.device_busy > 0 and row.traced_step_time_s > 0)
  testing.is_true(row.timeline)
end)

testing.case("mistakes are named", function()
  local model = small()
  testing.raises("Dense: unknown option 'unit' (did you mean 'units'?) (known: units, activation",
    gb.layers.Dense, { unit = 3 })
  testing.raises("Dense: option 'units' must be an integer, got a string (many)", gb.layers.Dense, "many")
  testing.raises("Dense: option 'units' is required", gb.layers.Dense)
  testing.raises("unknown loss 'mean'", model.compile, model, { loss = "mean" })
  testing.raises("unknown optimizer 'addam'", model.compile, model, { optimizer = "addam", loss = "mse" })
  testing.raises("unknown metric 'acuracy'", model.compile, model, { loss = "mse", metrics = { "acuracy" } })
  testing.raises("unknown option 'los'", model.compile, model, { los = "mse" })
  testing.raises("has not been compiled", model.fit, model, x, y)
  model:compile { loss = "sparse_categorical_crossentropy" }
  testing.raises("label 7 of example 1 is out of range; the model has 2 classes", model.fit, model, x,
    gb.tensor({ 0, 7, 0, 1 }, { dtype = "int64" }), { batch_size = 4, shuffle = false })
  testing.raises("expects 1 input of shape [2] per example, got 1 of shape [3]", model.fit, model, gb.zeros { 4, 3 }, y)
  testing.raises("unknown option 'epoch'", model.fit, model, x, y, { epoch = 3 })
  testing.raises("labels are expected after the inputs", model.fit, model, x)
  testing.raises("Conv2D): expects [height, width, channels] per example, got float32[2]",
    gb.layers.Conv2D(4, 3), x)
end)

testing.case("single examples are told from batches, and a batch larger than the data holds all of it", function()
  local model = small()
  model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy" }
  local examples = gb.data.Dataset.from_tensor_slices { x, y }
  testing.raises("got single examples of shape [2]; batch the dataset first, as in dataset:batch(32)", function()
    model:fit(examples, { verbose = 0 })
  end)
  local batches = 0
  for images in examples:batch(1 << 40):iter() do
    batches = batches + 1
    testing.equal(images.shape, { 4, 2 })
  end
  testing.equal(batches, 1)
end)

testing.case("a loss that gives one number for a batch counts by the batch's examples", function()
  gb.config.set_seed(2)
  local model = gb.Sequential { gb.layers.Dense(1, { input_shape = { 2 } }) }
  model:compile { optimizer = "sgd",
    loss = function(truth, answer) return ((truth - answer) * (truth - answer)):mean() end }
  local examples = gb.data.Dataset.from_tensor_slices { gb.tensor { { 1, 2 }, { 3, 4 }, { 5, 6 }, { 7, 9 } },
    gb.ones { 4, 1 } }
  local whole = model:evaluate(examples:batch(4)).loss
  testing.near(model:evaluate(examples:batch(3)).loss / whole, 1, 1e-5)
end)

testing.case("a misspelt name says what there is", function()
  testing.raises("gb.layers: no 'Dence' (did you mean 'Dense'?) (known: Activation, ",
    function() return gb.layers.Dence end)
  testing.raises("gb.measure: no 'trainin' (did you mean 'training'?)", function() return gb.measure.trainin end)
  testing.raises("option 'callbacks': gb.callbacks.EarlyStopping or another, or table of "
    .. "functions expected, got string",
    function()
      local model = small()
      model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy" }
      model:fit(x, y, { callbacks = { "EarlyStopping" } })
    end)
end)
