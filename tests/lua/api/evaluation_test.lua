-- Evaluations and predictions: their steps, the callbacks around them, and how fit validates.
local gb = require "gpubench"
local testing = require "testing"
local equal, raises = testing.equal, testing.raises

local x, y = gb.tensor { { 1 }, { 2 }, { 3 }, { 4 }, { 5 } }, gb.zeros { 5, 1 }

-- predictions are 2 * x; nothing changes them.
local function doubling()
  local model = gb.Sequential { gb.layers.Dense(1, { use_bias = false, input_shape = { 1 } }) }
  model:set_weights { gb.tensor { { 2 } } }
  model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0 }, loss = "mse" }
  return model
end

local function batches(size)
  return gb.data.Dataset.from_tensor_slices({ x, y }):batch(size)
end

local function writing(log)
  local calls = {}
  for _, event in ipairs { "test_begin", "test_batch_begin", "test_batch_end", "test_end", "predict_begin",
    "predict_batch_begin", "predict_end", "train_begin", "epoch_begin", "train_end" } do
    calls["on_" .. event] = function(number)
      log[#log + 1] = event .. (math.type(number) == "integer" and " " .. number or "")
    end
  end
  return calls
end

testing.case("evaluate and predict take the first steps alone", function()
  local model = doubling()
  equal(model:evaluate(x, y, { batch_size = 2, steps = 1 }).loss, 10.0)
  testing.near(model:evaluate(batches(2):repeated(), { steps = 4 }).loss, (4 + 16 + 36 + 64 + 100 + 4 + 16) / 7, 1e-4)
  equal(model:predict(x, { batch_size = 2, steps = 2 }):to_table(), { { 2.0 }, { 4.0 }, { 6.0 }, { 8.0 } })
  equal(model:predict(batches(2), { steps = 9 }).shape[1], 5)  -- with a warning
  raises("option 'steps': at least 1 is expected, got 0", function() model:evaluate(x, y, { steps = 0 }) end)
  raises("evaluate: the dataset never ends; use take, or give a number of steps",
    function() model:evaluate(batches(2):repeated()) end)
end)

testing.case("callbacks of an evaluation and of a prediction", function()
  local model, log = doubling(), {}
  model:evaluate(x, y, { batch_size = 3, callbacks = { writing(log) } })
  model:predict(x, { batch_size = 3, callbacks = { writing(log) } })
  equal(log, { "test_begin", "test_batch_begin 1", "test_batch_end 1", "test_batch_begin 2", "test_batch_end 2",
    "test_end", "predict_begin", "predict_batch_begin 1", "predict_batch_begin 2", "predict_end" })
end)

testing.case("what they are given, and how they end", function()
  local model, losses, outputs, final = doubling(), {}, {}, nil
  model:evaluate(x, y, { batch_size = 2, callbacks = { {
    on_test_batch_end = function(batch, logs)
      losses[batch] = logs.loss
      return batch < 2
    end,
    on_test_end = function(logs) final = logs.loss end,
  } } })
  equal(losses, { 10.0, 30.0 })  -- of the batches so far
  equal(final, 30.0)
  local predicted = model:predict(x, { batch_size = 2, callbacks = { {
    on_predict_batch_end = function(batch, logs)
      outputs[batch] = logs.outputs:to_table()
      return batch ~= 2
    end,
  } } })
  equal(outputs, { { { 2.0 }, { 4.0 } }, { { 6.0 }, { 8.0 } } })
  equal(predicted.shape[1], 4)
  local a = gb.Input { 1 }
  local two = gb.Model { inputs = a, outputs = { gb.layers.Activation("linear")(a), gb.layers.Activation("relu")(a) } }
  two:predict(x, { callbacks = { { on_predict_batch_end = function(_, logs) equal(#logs.outputs, 2) end } } })
end)

testing.case("a LambdaCallback is a table of functions", function()
  local model, log = doubling(), {}
  local calls = gb.callbacks.LambdaCallback(writing(log))
  model:fit(x, y, { batch_size = 5, verbose = 0, validation_data = { x, y }, callbacks = { calls } })
  equal(log, { "train_begin", "epoch_begin 1", "test_begin", "test_batch_begin 1", "test_batch_end 1", "test_end",
    "train_end" })
  raises("evaluate: callback 1 belongs to a fit that is running; make another one for this evaluate", function()
    model:fit(x, y, { verbose = 0, callbacks = { calls, { on_train_begin = function()
      model:evaluate(x, y, { callbacks = { calls } })
    end } } })
  end)
  raises("unknown option 'on_epoch_ends' (did you mean 'on_epoch_end'?)",
    function() gb.callbacks.LambdaCallback { on_epoch_ends = print } end)
end)

testing.case("fit validates after some epochs, with some batches", function()
  local model = doubling()
  local function validated(options)
    options.validation_data, options.verbose, options.epochs = options.validation_data or { x, y }, 0, 5
    return model:fit(x, y, options).history
  end
  equal(#validated({ validation_freq = 2 }).val_loss, 2)
  equal(#validated({ validation_freq = { 1, 4, 5 } }).val_loss, 3)
  equal(validated({ validation_freq = 9 }).val_loss, nil)
  equal(validated({ validation_data = batches(2):repeated(), validation_steps = 1 }).val_loss[5], 10.0)
  local sizes = {}
  validated { validation_batch_size = 4, validation_freq = 5, callbacks = { {
    on_test_batch_begin = function(batch) sizes[#sizes + 1] = batch end } } }
  equal(sizes, { 1, 2 })
  raises("validation_freq must be at least 1, or a list of epochs, got 0",
    function() validated { validation_freq = 0 } end)
  raises("option 'validation_steps': at least 1 is expected, got -1",
    function() validated { validation_steps = -1 } end)
  raises("option 'validation_steps': there is no validation_data",
    function() model:fit(x, y, { validation_steps = 1, verbose = 0 }) end)
end)

testing.case("callbacks leave out epochs that are not validated", function()
  local model, epochs = doubling(), 0
  local path = gb._native.options.out .. "/results/sparse-{epoch}.safetensors"
  local history = model:fit(x, y, { epochs = 6, verbose = 0, validation_data = { x, y }, validation_freq = 2,
    callbacks = {
      gb.callbacks.EarlyStopping { patience = 1 },
      gb.callbacks.ModelCheckpoint(path, { save_best_only = true, save_weights_only = true }),
      gb.callbacks.ReduceLROnPlateau { patience = 1 },
      { on_epoch_end = function(epoch) epochs = epoch end },
    } }).history
  equal(epochs, 4)  -- the second figure is the first that did not improve
  equal(#history.learning_rate, 4)
  testing.is_true(io.open((path:gsub("{epoch}", "02"))))
  testing.is_true(io.open((path:gsub("{epoch}", "01"))))  -- not validated, so saved, as Keras does
  testing.is_true(not io.open((path:gsub("{epoch}", "04"))))
  raises("there is no figure 'val_los' to monitor", function()
    model:fit(x, y, { epochs = 2, verbose = 0, validation_data = { x, y }, validation_freq = 1,
      callbacks = { gb.callbacks.EarlyStopping { monitor = "val_los", mode = "min" } } })
  end)
end)

local function lines_of(path)
  local lines = {}
  for line in io.lines(path) do lines[#lines + 1] = line end
  return lines
end

testing.case("rows of a CSVLogger have the columns of its header", function()
  local model, path = doubling(), gb._native.options.out .. "/results/sparse.csv"
  local function log(options)
    model:fit(x, y, { epochs = 2, verbose = 0, validation_freq = 2, validation_data = options.validation_data,
      callbacks = { gb.callbacks.CSVLogger(path, { separator = ";", append = options.append }) } })
  end
  log { validation_data = { x, y } }
  equal(lines_of(path), { "epoch;loss;val_loss", "1;44;NA", "2;44;44" })
  log { validation_data = { x, y }, append = true }
  equal(#lines_of(path), 5)
  raises("has the columns epoch;loss;val_loss, and this training gives epoch;loss; append to another file",
    function() log { append = true } end)
  equal(#lines_of(path), 5)
end)

testing.case("EarlyStopping with a baseline", function()
  local figures, model = { 5, 4, 3, 2, 1 }, doubling()
  local function epochs(options)
    local seen = 0
    local set = { on_epoch_begin = function(epoch)
      seen = epoch
      model:set_weights { gb.tensor { { figures[epoch] } } }
    end }
    options.monitor = "loss"
    model:fit(gb.ones { 1, 1 }, gb.zeros { 1, 1 }, { epochs = 5, verbose = 0,
      callbacks = { set, gb.callbacks.EarlyStopping(options) } })
    return seen
  end
  equal(epochs { patience = 2 }, 5)
  equal(epochs { patience = 2, baseline = 10 }, 5)
  -- An epoch that is better than those before ends nothing, though it counts as waiting below the baseline.
  equal(epochs { patience = 2, baseline = 0 }, 5)
  figures = { 5, 4, 4, 4, 4 }
  equal(epochs { patience = 3, baseline = 0 }, 3)
  equal(epochs { patience = 3 }, 5)
  raises("number expected, got string", function() gb.callbacks.EarlyStopping { baseline = "low" } end)
end)
