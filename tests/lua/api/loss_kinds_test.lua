-- Losses and metrics in scripts: names, weights, classes that are ignored, several results; values are compared with
-- Keras' in tests/peers/conformance.
local gb = require "gpubench"
local testing = require "testing"

local function identity(shape, compiled)
  compiled.optimizer = "sgd"
  local model = gb.Sequential { gb.Input(shape), gb.layers.Activation "linear" }
  model:compile(compiled)
  return model
end

testing.case("losses and metrics have Keras' names and short names", function()
  local x = gb.tensor { { 0.5 }, { 2.0 } }
  for _, loss in ipairs { "hinge", "squared_hinge", "log_cosh", "poisson", "mape", "MSLE", "bce", "MeanSquaredError",
    "binary_focal_crossentropy", "dice" } do
    local figures = identity({ 1 }, { loss = loss, metrics = { "mse", "LogCoshError", "AUC" } }):evaluate(x, x * 0.5)
    testing.is_true(figures.loss and figures.mse and figures.LogCoshError and figures.AUC, loss)
  end
  testing.raises("unknown loss 'ctc'; not in gpubench", function() identity({ 1 }, { loss = "ctc" }) end)
  testing.raises("mean_io_u: option 'num_classes' is required", function()
    identity({ 1 }, { loss = "mse", metrics = { "MeanIoU" } })
  end)
end)

testing.case("a loss and a metric take weights as their third argument", function()
  local y, p, w = gb.tensor { { 1 }, { 0 } }, gb.tensor { { 3 }, { 1 } }, gb.tensor { 1, 3 }
  testing.near(gb.losses.MeanSquaredError()(y, p, w):item(), (4 + 3) / 2, 1e-6)
  testing.equal(gb.losses.MeanAbsoluteError { reduction = "none" }(y, p, w):to_table(), { 2.0, 3.0 })
  local mean, positives = gb.metrics.Mean(), gb.metrics.TruePositives()
  mean:update_state(gb.tensor { 1, 5 }, w)
  testing.near(mean:result(), 16 / 4, 1e-6)
  mean:update_state(1, 4)
  testing.near(mean:result(), 20 / 8, 1e-6)
  positives:update_state(y, p, w)
  testing.equal(positives:result(), 1.0)
  testing.raises("sample weights: one number per example is expected for the values float32[2, 1] of true_positives",
    function() positives:update_state(y, p, gb.ones { 3 }) end)
  testing.raises("what gives one number for a batch takes no weights", function() gb.losses.Dice()(y, p, w) end)
  testing.raises("what gives one number for a batch takes no weights", function()
    identity({ 1 }, { loss = "dice" }):evaluate(p, y, { sample_weight = w })
  end)
end)

testing.case("an ignored class is no label out of range", function()
  local scores, labels = gb.ones { 2, 3 }, gb.tensor({ -1, 2 }, { dtype = "int64" })
  local loss = gb.losses.SparseCategoricalCrossentropy { from_logits = true, ignore_class = -1 }
  testing.near(loss(labels, scores):item(), math.log(3), 1e-6)
  testing.near(identity({ 3 }, { loss = loss }):evaluate(scores, labels).loss, math.log(3), 1e-6)
  testing.raises("label 7 of example 1 is out of range", function()
    loss(gb.tensor({ -1, 7 }, { dtype = "int64" }), scores)
  end)
  testing.raises("label -1 of example 0 is out of range", function()
    gb.losses.SparseCategoricalCrossentropy()(labels, scores)
  end)
end)

testing.case("a figure for each threshold", function()
  local precision = gb.metrics.Precision { thresholds = { 0.3, 0.7 } }
  testing.equal(precision:result(), nil)
  local x, y = gb.tensor { { 0.5 }, { 0.9 } }, gb.tensor { { 0 }, { 1 } }
  local model = gb.Sequential { gb.Input { 1 }, gb.layers.Dense(1, { kernel_initializer = "ones" }) }
  model:compile { optimizer = gb.optimizers.SGD(0), loss = "mse", metrics = { precision } }
  local stop = gb.callbacks.EarlyStopping { monitor = "val_precision[2]", patience = 1 }
  local history = model:fit(x, y, { epochs = 4, verbose = 0, validation_data = { x, y }, callbacks = { stop } }).history
  testing.equal(#history.loss, 2)
  testing.equal(history["precision[1]"][1], 0.5)
  testing.equal(history["val_precision[2]"][1], 1.0)
  testing.raises("there is no figure 'val_precision' to monitor", function()
    model:fit(x, y, { epochs = 2, verbose = 0, validation_data = { x, y },
      callbacks = { gb.callbacks.EarlyStopping { monitor = "val_precision" } } })
  end)
end)

testing.case("a place counts for a metric where label and prediction are a class", function()
  local iou = gb.metrics.MeanIoU(2)
  iou:update_state(gb.tensor({ 0, 2, 1 }, { dtype = "int64" }), gb.tensor({ 0, 1, 1 }, { dtype = "int64" }))
  testing.near(iou:result(), 1, 1e-5)
  testing.raises("option 'num_classes' must be an integer", function() gb.metrics.MeanIoU "two" end)
end)
