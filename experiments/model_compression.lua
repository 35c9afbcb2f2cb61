-- Model: Dense(512, relu) twice, Dense(10, softmax) on handwritten digits; Adam; the small ones have 128 units instead.
-- `small` is what a model of that size learns from the labels alone, in as many epochs: only what `distilled` has above
-- it is the teacher's. A teacher's answers take longer to learn than labels do, so few epochs show less than nothing of
-- it. Latency is that of batches of 64.
local gb = require "gpubench"

local units, kept = 512, 0.25
local epochs, batch_size = gb.quick and 1 or 8, 64
local train_digits, held_out_size = gb.datasets.mnist("train"), 512
local digits = train_digits:take(train_digits.size - held_out_size)
local held_out = train_digits:skip(train_digits.size - held_out_size)
local test = gb.datasets.mnist("test")

local function classifier(width)
  return gb.Sequential {
    gb.layers.Dense(width, { activation = "relu", input_shape = { 784 }, name = "first" }),
    gb.layers.Dense(width, { activation = "relu", name = "second" }),
    gb.layers.Dense(10, { activation = "softmax" }),
  }
end

local function train(model, loss, callbacks)
  model:compile { optimizer = "adam", loss = loss or "categorical_crossentropy", metrics = { "accuracy" } }
  model:fit(digits:shuffle(10000, { seed = 1 }):batch(batch_size),
    { epochs = epochs, verbose = 0, callbacks = callbacks })
  return model
end

-- Each is given a trained large model; what it does to it takes as many epochs again.
local methods = {
  original = function(large) return train(large) end,
  pruned = function(large)
    local steps = epochs * (digits.size // batch_size)
    return train(large, nil, {
      gb.prune.low_magnitude(large, {
        schedule = gb.prune.PolynomialDecay {
          final_sparsity = 0.8, end_step = math.max(2, steps // 2), frequency = math.max(1, steps // 20),
        },
      }),
    })
  end,
  shrunk = function(large) return train(gb.prune.shrink(large, { first = 1 - kept, second = 1 - kept })) end,
  distilled = function(large)
    return train(classifier(units * kept // 1),
      gb.losses.Distillation { teacher = large, temperature = 2, weight = 0.5 })
  end,
  small = function() return train(classifier(units * kept // 1)) end,
  int8 = function(large) return gb.quantize.int8(train(large), { calibration = held_out:batch(batch_size) }) end,
  int8_aware = function(large) return gb.quantize.int8(train(gb.quantize.aware(large))) end,
}

local function share_of_zeros(model)
  local zeros = 0
  for _, weights in ipairs(model.variables) do
    zeros = zeros + weights:eq(0):cast("float32"):sum():item()
  end
  return zeros / model:count_params()
end

local function row_of(rows, method)
  for _, row in ipairs(rows) do
    if row.method == method and row.status == "ok" then return row end
  end
end

local function percent(value) return string.format("%.3g %%", 100 * value) end

-- What a method does to memory, time and accuracy; a figure that no claim may rely on is open.
local function effects(row, original)
  local faster, accuracy = gb.expect.compare(original, row, "latency_s"), gb.expect.figure(row, "test_accuracy")
  return string.format("the weights take %s less memory, %s, and the accuracy is %s",
    percent(1 - row.weights_bytes / original.weights_bytes),
    faster and string.format("answers come %.3g times [%.3g, %.3g] as fast", faster.value, faster.low, faster.high)
      or "how much sooner answers come is open here",
    accuracy and string.format("%s [%.3g, %.3g]", percent(accuracy.value), 100 * accuracy.low, 100 * accuracy.high)
      or "open here")
end

local function smaller_models(rows)
  local original, shrunk, int8 = row_of(rows, "original"), row_of(rows, "shrunk"), row_of(rows, "int8")
  if not original or not shrunk or not int8 then return nil end
  local before = gb.expect.figure(original, "test_accuracy")
  return {
    string.format("Take three quarters of the units out and train on: %s, %s", effects(shrunk, original),
      before and "instead of " .. percent(before.value) or "what it was is open here"),
    "Or compute in int8: " .. effects(int8, original),
  }
end

-- A figure of a method, as a share of the original model's.
local function over_original(y, method, limit)
  limit.y, limit.of, limit.over = y, { method = method }, { method = "original" }
  return gb.expect.ratio(limit)
end

gb.experiment {
  name  = "model_compression",
  topic = "models",
  title = "Smaller models: size, latency and accuracy",
  answer = smaller_models,
  question = "How small can a trained model become, what does it lose, and does it become faster?",
  cause    = "A model that is larger than its task takes memory and time that its answers do not need.",
  remedy   = "Pruning while training (the smallest weights become zero), taking whole units out and training on, a "
    .. "small model that learns from the large one (distillation), or int8 instead of float32: after training, with "
    .. "scales from digits that were held out, or trained for it (quantization-aware).",
  reading  = "Accuracy over the bytes of the weights that are not zero; latency by method. CPUs without instructions "
    .. "for int8 (VNNI) compute int8 products in float32: there the int8 model is small, but not faster.",
  axes  = {
    gb.axis("device", gb.devices()),
    gb.axis("method", { "original", "pruned", "shrunk", "distilled", "small", "int8", "int8_aware" }),
  },
  columns = { "parameters", "zero_share", "nonzero_bytes", "test_accuracy", "test_accuracy_low", "test_accuracy_high" },
  trials = 6,
  skip = function(point)
    if point.device:find "^emulated" and point.method:find "^int8" then
      return "an emulated device has no values of weights to quantize"
    end
  end,
  seconds = function(_, measurement_s) return measurement_s + 2 * 0.7 * epochs end,
  run = function(point)
    return gb.device(point.device, function()
      local model = methods[point.method](train(classifier(units)))
      -- Without the teacher, which its loss keeps, and what else is done with: peak memory is to be the model's own.
      model:compile { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }
      collectgarbage()
      collectgarbage()
      local row = gb.measure.inference(model, { batch = 64, input = test })
      row.parameters = model:count_params()
      row.zero_share = share_of_zeros(model)
      row.nonzero_bytes = math.floor(row.weights_bytes * (1 - row.zero_share) + 0.5)
      row.test_accuracy = model:evaluate(test:batch(250)).accuracy
      return row
    end)
  end,
  charts = {
    gb.chart.line { x = "nonzero_bytes", y = "test_accuracy", series = "method", log_x = 10 },
    gb.chart.bar { x = "method", y = "latency_s" },
  },
  expect = {
    over_original("test_accuracy", "pruned", { at_least = 0.95,
      claim = "with four fifths of the weights zero, the model is nearly as accurate" }),
    over_original("latency_s", "pruned", { at_least = 0.8,
      claim = "zeros among the weights make no answer faster" }),
    over_original("weights_bytes", "shrunk", { at_most = 0.25,
      claim = "with a quarter of the units, the weights take less than a quarter of the memory" }),
    over_original("latency_s", "shrunk", { at_most = 0.8,
      claim = "with a quarter of the units, answers come sooner" }),
    over_original("test_accuracy", "shrunk", { at_least = 0.95,
      claim = "with a quarter of the units, the model is nearly as accurate" }),
    over_original("test_accuracy", "distilled", { at_least = 0.95,
      claim = "a quarter of the units that learned from the large model are nearly as accurate" }),
    over_original("weights_bytes", "int8", { at_most = 0.26,
      claim = "in int8, the weights take a quarter of the memory" }),
    over_original("latency_s", "int8", { at_most = 0.8,
      claim = "in int8, answers come sooner" }),
    over_original("test_accuracy", "int8", { at_least = 0.97,
      claim = "in int8, the model is as accurate" }),
    over_original("test_accuracy", "int8_aware", { at_least = 0.97,
      claim = "trained for int8, the model is as accurate" }),
  },
}
