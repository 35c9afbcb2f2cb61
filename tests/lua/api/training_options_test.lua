-- Optimizers, schedules, weights, metrics, callbacks and regularizers as scripts give them.
local gb = require "gpubench"
local testing = require "testing"

local function raises(body, text) testing.raises(text, body) end

local function points(count)
  local x, y = {}, {}
  for i = 1, count do
    x[i], y[i] = { i % 2, (i + 1) % 2 }, i % 2
  end
  return gb.tensor(x), gb.tensor(y, { dtype = "int64" })
end

local function classifier(options)
  local model = gb.Sequential { gb.layers.Dense(2, { activation = "softmax", input_shape = { 2 } }) }
  options.loss = options.loss or "sparse_categorical_crossentropy"
  model:compile(options)
  return model
end

testing.case("a function of the step is a learning rate", function()
  local traced = 0
  local optimizer = gb.optimizers.SGD {
    learning_rate = function(step)
      traced = traced + 1
      return (step + 1) * 0.5
    end,
  }
  local model = gb.Sequential { gb.layers.Dense(1, { use_bias = false, input_shape = { 1 } }) }
  model:set_weights { gb.zeros { 1, 1 } }
  for _ = 1, 3 do optimizer:apply_gradients({ gb.ones { 1, 1 } }, model.variables) end
  testing.near(model.variables[1]:to_table()[1][1], -(0.5 + 1 + 1.5), 1e-6)
  testing.equal(traced, 1)
  raises(function() optimizer.learning_rate = 1 end, "it follows a schedule")
end)

testing.case("fit follows a function of the step", function()
  local x, y = points(8)
  local still = classifier { optimizer = gb.optimizers.Adam { learning_rate = function(step) return step * 0 end } }
  local before = still:get_weights()[1]:to_table()
  still:fit(x, y, { epochs = 2, verbose = 0 })
  testing.equal(still:get_weights()[1]:to_table(), before)
  local wrong = classifier { optimizer = gb.optimizers.SGD { learning_rate = function() return gb.ones { 2 } end } }
  raises(function() wrong:fit(x, y, { verbose = 0 }) end,
    "learning_rate: the function of the step must return one floating-point number, got float32[2]")
end)

testing.case("a schedule is an argument of its own and can be called", function()
  local schedule = gb.schedules.PiecewiseConstantDecay({ 2, 4 }, { 1, 0.5, 0.25 })
  testing.near(schedule(2):item(), 1, 1e-9)
  testing.near(schedule(gb.tensor(3)):item(), 0.5, 1e-9)
  gb.optimizers.SGD(schedule)
  gb.optimizers.SGD(schedule, { momentum = 0.9 })
  raises(function() gb.schedules.PiecewiseConstantDecay({ 2 }, { 1 }) end, "1 boundaries need 2 values, got 1")
  raises(function() schedule(gb.ones { 2 }) end, "the step is one number, got float32[2]")
end)

testing.case("an optimizer's learning rate is what its schedule gives for the next step", function()
  local model = gb.Sequential { gb.layers.Dense(1, { use_bias = false, input_shape = { 1 } }) }
  for _, rate in ipairs { gb.schedules.PiecewiseConstantDecay({ 2, 4 }, { 1, 0.5, 0.25 }),
    function(step) return step:cast "float32":le(2):cast "float32" * 0.5 + 0.5 end } do
    local optimizer, rates = gb.optimizers.SGD(rate), {}
    for step = 1, 4 do
      rates[step] = optimizer.learning_rate
      optimizer:apply_gradients({ gb.ones { 1, 1 } }, model.variables)
    end
    testing.equal(rates, { 1.0, 1.0, 1.0, 0.5 })
  end
end)

testing.case("limits are checked", function()
  raises(function() gb.optimizers.Adam { clipnorm = 0 } end, "gb.optimizers.Adam: clipnorm must be above 0, got 0")
  raises(function() gb.optimizers.Lion { clipnorm = 1, clipvalue = 1 } end, "only one of clipnorm, clipvalue")
  local optimizer = gb.optimizers.AdamW {}
  optimizer:exclude_from_weight_decay { var_names = { "bias" } }
  local model = classifier { optimizer = optimizer }
  local x, y = points(4)
  model:fit(x, y, { verbose = 0 })
  raises(function() optimizer:exclude_from_weight_decay { var_names = {} } end, "before the first step")
end)

testing.case("weights of examples and classes", function()
  local x, y = points(8)
  local function trained(options)
    local model = classifier { optimizer = gb.optimizers.SGD { learning_rate = 1 } }
    model:set_weights { gb.zeros { 2, 2 }, gb.zeros { 2 } }
    options.verbose, options.shuffle = 0, false
    model:fit(x, y, options)
    return model:get_weights()[1]:to_table()
  end
  local plain = trained {}
  testing.equal(trained { sample_weight = gb.ones { 8 } }, plain)
  local by_class = trained { class_weight = { [0] = 0, [1] = 2 } }
  local by_example = trained { sample_weight = { 2, 0, 2, 0, 2, 0, 2, 0 } }
  testing.equal(by_class, by_example)
  testing.is_true(by_class[1][1] ~= plain[1][1], "weights change the update")
  local model = classifier { optimizer = "sgd" }
  local data = gb.data.Dataset.from_tensor_slices { x, y, gb.ones { 8 } }:batch(4)
  testing.near(model:evaluate(data).loss, model:evaluate(x, y, { batch_size = 4 }).loss, 1e-6)
  testing.near(model:evaluate(x, y, { sample_weight = gb.zeros { 8 } }).loss, 0, 1e-9)
  model:fit(x, y, { verbose = 0, validation_data = { x, y, gb.ones { 8 } }, class_weight = { [1] = 2 } })
  raises(function() model:fit(data, { sample_weight = gb.ones { 8 } }) end, "goes with tensors")
  raises(function() model:fit(x, y, { class_weight = { one = 1 } }) end, "classes from 0 and numbers from 0")
  raises(function() model:fit(x, y, { class_weight = 3 }) end, "a table such as")
  raises(function() model:predict(x, { sample_weight = gb.ones { 8 } }) end, "no loss to weigh")
  raises(function() model:fit(x, y, { sample_weight = gb.ones { 4 }, verbose = 0 }) end, "")
  raises(function()
    model:fit(x, y, { verbose = 0, callbacks = { { on_epoch_end = function()
      model:fit(x, y, { class_weight = { [0] = 5 }, verbose = 0 })
    end } } })
  end, "another class_weight: model 'sequential' is being trained")
end)

testing.case("weights of outputs and of their examples", function()
  local x = gb.Input { 2 }
  local far, near = gb.layers.Dense(1, { name = "far" })(x), gb.layers.Dense(1, { name = "near" })(x)
  local model = gb.Model { inputs = x, outputs = { far, near } }
  model:set_weights { gb.zeros { 2, 1 }, gb.zeros { 1 }, gb.zeros { 2, 1 }, gb.zeros { 1 } }
  local rows, one, two = gb.ones { 4, 2 }, gb.ones { 4, 1 }, gb.ones { 4, 1 } * 2
  local function evaluate(loss_weights, weights)
    model:compile { optimizer = "sgd", loss = "mse", loss_weights = loss_weights }
    return model:evaluate(rows, { one, two }, { sample_weight = weights })
  end
  testing.near(evaluate().loss, 5, 1e-6)
  local figures = evaluate { 0.5, 2 }
  testing.near(figures.loss, 8.5, 1e-6)
  testing.near(figures.far_loss, 1, 1e-6)
  testing.near(figures.near_loss, 4, 1e-6)
  testing.near(evaluate({ near = 0.25 }).loss, 2, 1e-6)
  testing.near(evaluate(nil, { gb.zeros { 4 }, gb.ones { 4 } }).loss, 4, 1e-6)
  testing.near(evaluate(nil, gb.ones { 4 } * 0.5).loss, 2.5, 1e-6)
  raises(function() evaluate { middle = 1 } end, "the model has no output 'middle'")
  raises(function() evaluate { 1, 2, 3 } end, "has 2 outputs, so it takes 2 loss_weights, got 3")
  raises(function() model:fit(rows, { one, two }, { class_weight = { [0] = 1 }, verbose = 0 }) end, "")
end)

testing.case("metrics that weigh examples", function()
  local input = gb.Input { 1 }
  local model = gb.Model { inputs = input, outputs = gb.layers.Dense(1, { name = "out" })(input) }
  model:set_weights { gb.zeros { 1, 1 }, gb.zeros { 1 } }
  local x, y = gb.ones { 4, 1 }, gb.tensor { { 1 }, { 2 }, { 3 }, { 4 } }
  local weights = gb.tensor { 1, 0, 2, 1 }
  local function figures(options, given, batch_size)
    options.optimizer, options.loss = "sgd", "mse"
    model:compile(options)
    return model:evaluate(x, y, { sample_weight = given, batch_size = batch_size or 4 })
  end
  for _, batch_size in ipairs { 4, 3 } do
    local both = figures({ metrics = { "mae" }, weighted_metrics = { "mae", gb.metrics.RootMeanSquaredError() } },
      weights, batch_size)
    testing.near(both.mae, 2.5, 1e-6)
    testing.near(both.weighted_mae, (1 + 2 * 3 + 4) / 4, 1e-6)
    testing.near(both.root_mean_squared_error, math.sqrt((1 + 2 * 9 + 16) / 4), 1e-5)
  end
  testing.near(figures({ weighted_metrics = { "mae" } }).mae, 2.5, 1e-6)
  testing.near(figures({ weighted_metrics = { out = "mae" } }, weights).mae, 11 / 4, 1e-6)
  testing.near(figures({ weighted_metrics = { "mae" } }, gb.zeros { 4 }).mae, 0, 0)
  local function trained(class_weight)
    local classes = classifier { optimizer = gb.optimizers.SGD { learning_rate = 1e-9 },
      weighted_metrics = { "accuracy" } }
    classes:set_weights { gb.zeros { 2, 2 }, gb.tensor { 1, 0 } }
    local points_x, labels = points(8)
    return classes:fit(points_x, labels, { verbose = 0, class_weight = class_weight }).history.accuracy[1]
  end
  testing.near(trained(), 0.5, 1e-6)
  testing.near(trained { [0] = 3, [1] = 1 }, 0.75, 1e-6)
  raises(function() figures { weighted_metrics = { middle = "mae" } } end,
    "option 'weighted_metrics': the model has no output 'middle'")
end)

testing.case("losses as scripts call them", function()
  local truth, guess = gb.tensor { { 0, 0 }, { 0, 0 } }, gb.tensor { { 1, 2 }, { 3, 4 } }
  testing.equal(gb.losses.MeanAbsoluteError { reduction = "none" }(truth, guess):to_table(), { 1.5, 3.5 })
  testing.equal(gb.losses.MeanAbsoluteError { reduction = "sum" }(truth, guess):item(), 5.0)
  testing.near(gb.losses.Huber(0.5)(truth, guess):item(), 0.5 * 2.25, 1e-6)
  raises(function() gb.losses.CosineSimilarity()(gb.zeros { 2 }, gb.ones { 2 }) end,
    "cosine_similarity: predictions must be [batch, ...]")
  raises(function() gb.losses.MeanSquaredError { reduction = "max" } end, "unknown reduction 'max'")
end)

testing.case("class indices of sequences", function()
  local tokens = gb.Sequential { gb.Input { 3, 4 }, gb.layers.Dense(5, { activation = "softmax" }) }
  tokens:compile { optimizer = gb.optimizers.SGD(1), loss = "sparse_categorical_crossentropy",
    metrics = { "accuracy" } }
  local x, y = gb.ones { 6, 3, 4 }, gb.zeros({ 6, 3 }, { dtype = "int64" })
  local history = tokens:fit(x, y, { epochs = 30, verbose = 0 }).history
  testing.is_true(history.loss[30] < history.loss[1], "the loss falls")
  testing.near(history.accuracy[30], 1, 1e-9)
end)

testing.case("metrics with a state of their own", function()
  local recall = gb.metrics.Recall { class_id = 1 }
  testing.equal(recall:result(), nil)
  recall:update_state({ { 0, 1 }, { 1, 1 } }, { { 0.1, 0.9 }, { 0.2, 0.3 } })
  testing.equal(recall:result(), 0.5)
  recall:reset_state()
  testing.near(recall:result(), 0, 1e-9)
  raises(function() recall:update_state({ 1, 0 }, { 1, 0 }) end, "class_id 1 is not among the classes")
  local f1 = gb.metrics.F1Score()
  f1:update_state({ { 1, 0 } }, { { 0.9, 0.1 } })
  raises(function() f1:update_state({ { 1, 0, 0 } }, { { 0.9, 0.1, 0 } }) end, "another number of classes")
  local mean = gb.metrics.Mean()
  mean:update_state(4)
  mean:update_state { 1, 1 }
  testing.near(mean:result(), 2, 1e-9)
  raises(function() classifier { optimizer = "sgd", metrics = { mean } } end, "compile takes metrics of labels")
end)

testing.case("a batch's functions", function()
  local x, y = points(8)
  local calls = {}
  local model = classifier { optimizer = "sgd" }
  local function fit(callbacks) model:fit(x, y, { batch_size = 2, verbose = 0, callbacks = { callbacks } }) end
  fit {
    on_batch_begin = function(batch) calls[#calls + 1] = "begin " .. batch end,
    on_train_batch_end = function(batch, logs) calls[#calls + 1] = "end " .. batch .. " " .. type(logs.loss) end,
  }
  testing.equal(table.concat(calls, ", "),
    "begin 1, end 1 number, begin 2, end 2 number, begin 3, end 3 number, begin 4, end 4 number")
  local seen = 0
  fit { on_batch_end = function(batch)
    seen = batch
    return batch < 3
  end }
  testing.equal(seen, 3)
  raises(function()
    fit { on_batch_end = function() end, on_train_batch_end = function() end }
  end, "two names of one function")
end)

testing.case("callbacks end the training and reduce the rate", function()
  local x, y = points(8)
  local wild = classifier { optimizer = gb.optimizers.SGD { learning_rate = 1e38 },
    loss = function(_, p) return p * 1e38 end }
  local batches = 0
  wild:fit(x, y, { batch_size = 1, epochs = 3, verbose = 0, callbacks = { gb.callbacks.TerminateOnNaN(),
    { on_batch_end = function() batches = batches + 1 end } } })
  testing.is_true(batches < 24, "training ends at the batch")
  local model = classifier { optimizer = gb.optimizers.SGD { learning_rate = 0 } }
  local history = model:fit(x, y, { epochs = 3, verbose = 0,
    callbacks = { gb.callbacks.ReduceLROnPlateau { monitor = "loss", patience = 1, factor = 0.5 } } }).history
  testing.equal(#history.learning_rate, 3)
  raises(function() gb.callbacks.ReduceLROnPlateau { factor = 1 } end, "factor must be at least 0 and below 1")
  raises(function()
    classifier({ optimizer = gb.optimizers.SGD(gb.schedules.CosineDecay(1, 200)) }):fit(x, y, { epochs = 3, verbose = 0,
      callbacks = { gb.callbacks.ReduceLROnPlateau { monitor = "loss", patience = 0, min_delta = 9 } } })
  end, "it follows a schedule")
end)

testing.case("a checkpoint of weights only", function()
  local x, y = points(4)
  local model = classifier { optimizer = "sgd" }
  local path = gb._native.options.out .. "/results/weights-{epoch}.safetensors"
  model:fit(x, y, { verbose = 0, callbacks = { gb.callbacks.ModelCheckpoint(path, { save_weights_only = true }) } })
  local other = gb.Sequential { gb.layers.Dense(2,
    { activation = "softmax", input_shape = { 2 }, name = model.layers[1].name }) }
  other:load_weights((path:gsub("{epoch}", "01")))
  testing.equal(other:get_weights()[1]:to_table(), model:get_weights()[1]:to_table())
end)

testing.case("a frozen layer has no penalty", function()
  local x, y = points(4)
  local function loss_of(trainable)
    local model = gb.Sequential { gb.layers.Dense(2,
      { activation = "softmax", input_shape = { 2 }, trainable = trainable,
      kernel_regularizer = gb.regularizers.L2(1), kernel_initializer = "ones" }) }
    model:compile { optimizer = "sgd", loss = "sparse_categorical_crossentropy" }
    return model:evaluate(x, y).loss
  end
  testing.near(loss_of(true) - loss_of(false), 4, 1e-5)
  testing.equal(gb.regularizers.L1(), "l1_l2(l1=0.01, l2=0)")
  raises(function() gb.regularizers.L1(-1) end, "l1 must be at least 0, got -1")
  raises(function() gb.layers.Dense(1, { kernel_regularizer = "l4" }) end, "unknown regularizer 'l4'")
end)

testing.case("regularizers of other layers than products", function()
  local function penalty(layer, shape, data)
    local model = gb.Sequential { gb.Input(shape), layer }
    model:compile { optimizer = "sgd", loss = function(_, y) return y * 0 end }
    return model:evaluate(data, gb.zeros { data.shape[1] }).loss
  end
  local lstm = gb.layers.LSTM(1, { recurrent_initializer = "ones", recurrent_regularizer = "l1" })
  testing.near(penalty(lstm, { 3, 1 }, gb.ones { 2, 3, 1 }), 0.04, 1e-6)
  local depthwise = { depthwise_initializer = "ones", depthwise_regularizer = gb.regularizers.L2(0.5) }
  testing.near(penalty(gb.layers.DepthwiseConv2D(2, depthwise), { 4, 4, 3 }, gb.ones { 2, 4, 4, 3 }), 6, 1e-5)
  local pointwise = { pointwise_initializer = "ones", pointwise_regularizer = "l1" }
  testing.near(penalty(gb.layers.SeparableConv2D(2, 2, pointwise), { 4, 4, 3 }, gb.ones { 2, 4, 4, 3 }), 0.06, 1e-6)
  local both = gb.Sequential { gb.Input { 3, 1 }, gb.layers.Bidirectional(lstm) }
  testing.near((both.losses[1] + both.losses[2]):item(), 0.08, 1e-6)
end)

testing.case("each variable needs its gradient, and an optimizer its model", function()
  local a, b, c = gb.Variable(gb.ones { 2 }), gb.Variable(gb.ones { 2 }), gb.Variable(gb.ones { 2 })
  local sgd, gradient = gb.optimizers.SGD { learning_rate = 1 }, gb.ones { 2 }
  raises(function() sgd:apply_gradients({ gradient }, { a, b }) end,
    "got no gradient for variable 2 of 2; false stands for none")
  raises(function() sgd:apply_gradients({ nil, gradient }, { a, b }) end, "got no gradient for variable 1 of 2")
  raises(function() sgd:apply_gradients({ gradient, gradient, gradient }, { a, b }) end,
    "got 3 gradients for 2 variables")
  testing.equal({ a:to_table(), b:to_table() }, { { 1.0, 1.0 }, { 1.0, 1.0 } })
  sgd:apply_gradients({ gradient, false }, { a, b })
  testing.equal({ a:to_table(), b:to_table() }, { { 0.0, 0.0 }, { 1.0, 1.0 } })
  raises(function() sgd:apply_gradients({ gradient }, { c }) end, "it serves another model")
end)

testing.case("a monitored function needs its mode, before the first epoch", function()
  local x, y = points(4)
  local epochs = 0
  local function fit(metrics, monitor, mode)
    local model = classifier { optimizer = "sgd", metrics = metrics }
    model:fit(x, y, { epochs = 2, verbose = 0, callbacks = {
      { on_epoch_end = function() epochs = epochs + 1 end },
        gb.callbacks.EarlyStopping { monitor = monitor, mode = mode } } })
  end
  local function mine(_, b) return (b - b):mean(-1) end
  raises(function() fit({ mine }, "metric_1") end, "give mode = \"min\" or mode = \"max\"")
  testing.equal(epochs, 0)
  fit({ mine }, "metric_1", "max")
  fit({ "accuracy" }, "accuracy")
end)
