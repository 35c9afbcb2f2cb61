-- Losses and metrics against Keras (losses_values.lua, written by losses.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/losses_values.lua"
local of_kinds = dofile "tests/peers/conformance/loss_kinds_values.lua"
local counting = dofile "tests/peers/conformance/counting_metrics_values.lua"
local figures_of = dofile "tests/peers/conformance/figures_of.lua"
local close, tensor = compare.close, compare.tensor

compare.covers(gb.losses, { Distillation = "Keras has no such class" }, reference.losses, of_kinds.losses)
compare.covers(gb.metrics, { Mean = "it takes values alone" }, reference.metrics, of_kinds.metrics, counting.metrics)

compare.run(reference.losses, figures_of.check_loss, {
  ["BinaryCrossentropy, chances of 0 and 1"] = "the gradient of a chance of 0 or 1 lets it come back; Keras has 0",
  ["MeanSquaredError reduction=mean_with_sample_weight, weighted"] = {
    "it is missing", "known: sum_over_batch_size, mean, sum, none" },
})

compare.run(reference.metrics, figures_of.check_metric, {
  ["Accuracy, class indices"] = {
    "it is the \"accuracy\" of compile, which is no comparison of indices", "predictions must be floating-point" },
  ["BinaryAccuracy, labels between 0 and 1"] = "the threshold is one of labels too, which Keras takes for wrong",
  ["TopKCategoricalAccuracy k=1, ties"] = "of classes that tie, the first count; Keras counts all",
  ["SparseTopKCategoricalAccuracy k=1, ties"] = "of classes that tie, the first count; Keras counts all",
  ["F1Score"] = "a number for each class is no figure of a history",
})

compare.run(reference.shapes, function(case)
  local figures = figures_of.evaluated(case, { loss = case.loss, metrics = case.metrics }, { batch_size = 4 })
  for name in pairs(figures) do testing.is_true(case.figures[name], "a figure of Keras: " .. name) end
  for name, expected in pairs(case.figures) do close(figures[name], expected, 2e-6, name) end
end, {
  ["chances [batch, 1]"] = "the threshold of accuracy is one of labels too, which Keras takes for wrong",
  ["chances [batch, 1] near their labels"] =
    "the threshold of accuracy is one of labels too, which Keras takes for wrong",
})

compare.run(reference.means, function(case)
  local mean, values = gb.metrics.Mean(), tensor(case.values)
  mean:update_state(values[{ 1, 2 }])
  mean:update_state(values[{ 3, 5 }])
  close(mean:result(), case.result, 2e-6, "result")
end)
