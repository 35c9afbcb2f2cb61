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
  local file = gb._native.options.out .. "/small"
  small:save(file)
  local again = gb.load_model(file)
  local given = gb.random.uniform({ 3, 784 })
  testing.equal(again:predict(given):to_table(), small:predict(given):to_table())
end)

testing.case("what it refuses", function()
  local model = dense_classifier()
  local small = gb.quantize.int8(model, { calibration = held_out })
  small:compile(classification)
  testing.raises("layer 'hidden' computes in int8, which has no gradient; train the model", small.fit, small, training, { verbose = 0 })
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
