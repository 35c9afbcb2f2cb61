-- gb.quantize: models in int8 after training, and trained for it.
local gb = require "gpubench"
local testing = require "testing"

local digits = gb.datasets.mnist("train")
local training, held_out = digits:take(1024):batch(64), digits:skip(1024):take(256):batch(64)
local test = gb.datasets.mnist("test"):take(500):batch(100)
local classification = { optimizer = "adam", loss = "categorical_crossentropy", metrics = { "accuracy" } }

local function trained(model, epochs)
  model:compile(classification)
  model:fit(training, { epochs = epochs or 2, verbose = 0 })
  return model
end

local function dense_classifier()
  gb.config.set_seed(3)
  return gb.Sequential {
    gb.layers.Dense(64, { activation = "relu", input_shape = { 784 }, name = "hidden" }),
    gb.layers.Dense(10, { activation = "softmax", name = "answers" }),
  }
end

local function accuracy(model)
  model:compile(classification)
  return model:evaluate(test).accuracy
end

testing.case("a model in int8 is as accurate and a quarter as large", function()
  local model = trained(dense_classifier())
  local small = gb.quantize.int8(model, { calibration = held_out })
  testing.is_true(math.abs(accuracy(small) - accuracy(model)) <= 0.01, "accuracy")
  local before = gb.measure.inference(model, { batch = 8, duration = 0.01 })
  local row = gb.measure.inference(small, { batch = 8, duration = 0.01 })
  testing.equal({ before.precision, row.precision }, { "float32", "int8" })
  -- Beside a byte for each weight: biases and scales of 74 units, and two layers' input scales.
  testing.equal(row.weights_bytes, 784 * 64 + 64 * 10 + 74 * 8 + 8)
  testing.equal(small:count_params(), model:count_params() + 74 + 2)
  testing.is_true(before.weights_bytes > 3.9 * row.weights_bytes, "a quarter of the bytes")
end)

testing.case("convolutions, and the normalization behind them", function()
  gb.config.set_seed(4)
  local model = trained(gb.Sequential {
    gb.layers.Reshape({ 28, 28, 1 }, { input_shape = { 784 } }),
    gb.layers.Conv2D(8, 3),
    gb.layers.BatchNormalization(),
    gb.layers.Activation("relu"),
    gb.layers.MaxPooling2D(),
    gb.layers.Flatten(),
    gb.layers.Dense(10, { activation = "softmax" }),
  })
  local small = gb.quantize.int8(model, { calibration = held_out, batches = 2, method = "mse" })
  testing.equal(#small.layers, #model.layers - 1)
  testing.is_true(math.abs(accuracy(small) - accuracy(model)) <= 0.02, "accuracy")
end)

testing.case("trained with quantization, then in int8 without calibration", function()
  local aware = trained(gb.quantize.aware(dense_classifier()))
  local small = gb.quantize.int8(aware)
  testing.is_true(accuracy(aware) > 0.6, "it learns")
  testing.is_true(math.abs(accuracy(small) - accuracy(aware)) <= 0.004, "both answer alike")
  local row = gb.measure.training(aware, training, { budget = 0.05 })
  testing.equal(row.precision, "float32")
end)

testing.case("a tape sees through the rounding", function()
  local model = gb.quantize.aware(dense_classifier())
  local x = gb.ones({ 4, 784 })
  local tape <close> = gb.tape()
  local loss = model(x, { training = true }):square():mean()
  testing.is_true(#tape:gradient(loss, model.trainable_variables) == 4, "a gradient for each weight")
end)

testing.case("saved and loaded", function()
  local small = gb.quantize.int8(dense_classifier(), { calibration = held_out })
  local file = gb._native.options.out .. "/results/small"
  small:save(file)
  local again = gb.load_model(file)
  local given = gb.random.uniform({ 3, 784 })
  testing.equal(again:predict(given):to_table(), small:predict(given):to_table())
end)

testing.case("what it refuses", function()
  local model = dense_classifier()
  local small = gb.quantize.int8(model, { calibration = held_out })
  small:compile(classification)
  testing.raises("layer 'hidden' computes in int8, which has no gradient; train the model", small.fit, small, training,
    { verbose = 0 })
  testing.raises("layer 'hidden' computes in int8, which has no gradient; train the model", small.memory, small, 64)
  testing.raises("quantize: model 'sequential", gb.quantize.int8, small, { calibration = held_out })
  testing.raises("option 'layers': at least one name is expected", gb.quantize.int8, model,
    { calibration = held_out, layers = {} })
  testing.raises("unknown calibration method 'entropy' (known: max, percentile, mse)", gb.quantize.int8, model,
    { calibration = held_out, method = "entropy" })
  testing.raises("give a calibration set, or train what gb.quantize.aware makes of the model", gb.quantize.int8, model)
  testing.raises("the calibration set never ends", gb.quantize.int8, model, { calibration = held_out:repeated() })
  local none = held_out:filter(function(x) return x:sum():lt(0) end)
  testing.raises("quantize: the calibration set is empty", gb.quantize.int8, model, { calibration = none })
  testing.raises("has no layer 'other'", gb.quantize.aware, model, { layers = { "other" } })
  testing.raises("layer 'hidden' is quantized; shrink the model first", gb.prune.shrink, small, { hidden = 0.5 })
end)

--- The largest difference of what two models answer, as a share of the largest answer.
local function distance(model, other, given)
  local expected = model:predict(given):cast "float32"
  return ((other:predict(given):cast "float32" - expected):abs():max() / expected:abs():max()):item()
end

testing.case("layers of 16 bits before a quantized one are looked at as the numbers that they give", function()
  for _, policy in ipairs { "mixed_bfloat16", "mixed_float16", "bfloat16", "float16" } do
    local model = gb.Sequential {
      gb.layers.Dense(32, { dtype = policy, input_shape = { 8 }, name = "narrow" }),
      gb.layers.Dense(4, { name = "wide" }),
    }
    local given = gb.random.normal { 64, 8 }
    local data = gb.data.Dataset.from_tensor_slices(given):batch(16)
    local small = gb.quantize.int8(model, { calibration = data, layers = { "wide" } })
    testing.is_true(distance(model, small, given) < 0.05, policy)
    testing.raises("quantize: layer 'narrow' has dtype " .. policy, gb.quantize.int8, model, { calibration = data })
  end
end)

testing.case("a batch normalization of another type than float32 stays what it is", function()
  for _, policy in ipairs { "float32", "float16", "mixed_bfloat16" } do
    local model = gb.Sequential {
      gb.layers.Dense(8, { input_shape = { 8 } }), gb.layers.BatchNormalization { dtype = policy },
    }
    local given = gb.random.normal { 64, 8 }
    local small = gb.quantize.int8(model, { calibration = gb.data.Dataset.from_tensor_slices(given):batch(16) })
    testing.is_true(distance(model, small, given) < 0.05, policy)
    testing.equal(small:predict(given).dtype, model:predict(given).dtype)
  end
end)

testing.case("sums that 32 bits do not hold, and weights that are no numbers, are told by their layer", function()
  local terms = 150528
  local model = gb.Sequential { gb.layers.Dense(2, { input_shape = { terms }, name = "long" }) }
  local data = gb.data.Dataset.from_tensor_slices(gb.ones { 2, terms }):batch(2)
  testing.raises("quantize: layer 'long' adds up 150528 products, but the 32 bits of an int8 sum hold 131071",
    gb.quantize.int8, model, { calibration = data })
  local broken = dense_classifier()
  local weights = broken:get_weights()
  weights[1] = weights[1] / 0
  broken:set_weights(weights)
  testing.raises("quantize: the kernel of layer 'hidden' has a weight that is", gb.quantize.int8, broken,
    { calibration = held_out })
end)

testing.case("options of a calibration are checked where there is none", function()
  local aware = trained(gb.quantize.aware(dense_classifier()), 1)
  testing.raises("batches must be at least 1, got -5", gb.quantize.int8, aware, { batches = -5 })
  testing.raises("give 'calibration'", gb.quantize.int8, aware, { method = "mse" })
  testing.raises("option 'percentile': is for method = \"percentile\" alone", gb.quantize.int8, aware,
    { percentile = 50 })
end)

testing.case("a layer that is called twice is recomputed by the range that each call had", function()
  local given = gb.data.Dataset.from_tensor_slices({ gb.random.normal { 16, 4 } * 5,
    gb.random.normal { 16, 3 } }):batch(16)
  local function weights(recompute)
    gb.config.set_seed(5)
    local input, shared = gb.Input { 4 }, gb.layers.Dense(4, { name = "shared" })
    local twice = shared(gb.layers.Activation("softmax")(shared(input)))
    local model = gb.quantize.aware(gb.Model { inputs = input, outputs = gb.layers.Dense(3)(twice) })
    model:compile { optimizer = gb.optimizers.SGD { learning_rate = 0.1 }, loss = "mean_squared_error",
      recompute = recompute }
    model:fit(given, { epochs = 2, verbose = 0 })
    return model:get_weights()
  end
  local kept, again = weights(nil), weights { "shared" }
  for i, weight in ipairs(kept) do testing.equal(again[i]:to_table(), weight:to_table()) end
end)

local decoders = {
  gpt2_small = { vocabulary = 11, context = 6, width = 8, depth = 1, heads = 2, dropout = 0.0 },
  llama_small = { vocabulary = 11, context = 6, width = 8, hidden = 12, depth = 1, heads = 2, key_value_heads = 1 },
}
for name, options in pairs(decoders) do
  testing.case("a decoder whose table makes tokens and logits: " .. name, function()
    gb.config.set_seed(6)
    local model = gb.zoo[name](options)
    for _, variable in ipairs(model.variables) do variable:assign(gb.random.normal(variable.shape) * 0.5) end
    local tokens = gb.tensor({ { 1, 2, 3, 4, 5, 6 }, { 10, 9, 8, 7, 0, 1 } }, { dtype = "int32" })
    local data = gb.data.Dataset.from_tensor_slices(tokens):batch(2)
    local small = gb.quantize.int8(model, { calibration = data })
    testing.is_true(distance(model, small, tokens) < 0.1, "answers")
    local before = small:predict(tokens):to_table()
    model.variables[1]:assign(model.variables[1] * 0)
    testing.equal(small:predict(tokens):to_table(), before)
    local aware = gb.quantize.aware(gb.zoo[name](options))
    aware:compile { optimizer = gb.optimizers.SGD(0.5),
      loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true } }
    local history = aware:fit(tokens, tokens, { epochs = 30, verbose = 0 }).history
    testing.is_true(history.loss[30] < 0.7 * history.loss[1], "one table learns for both")
    local tables = 0
    for _, variable in ipairs(aware.variables) do
      if variable.shape[1] == options.vocabulary then tables = tables + 1 end
    end
    testing.equal(tables, 1)
  end)
end

testing.case("what is made of frozen weights once is in the memory that is told", function()
  local model = gb.quantize.aware(gb.Sequential {
    gb.layers.Dense(64, { input_shape = { 784 }, trainable = false }), gb.layers.Dense(10, { activation = "softmax" }),
  })
  model:compile(classification)
  local frozen = 4 * 784 * 64
  testing.is_true(model:memory(64).constants >= frozen, "the frozen kernel, rounded")
end)
