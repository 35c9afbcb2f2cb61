-- Losses and metrics against Keras (losses_values.lua, written by losses.py).
local gb = require "gpubench"
local testing = require "testing"
local compare = dofile "tests/peers/conformance/compare.lua"
local reference = dofile "tests/peers/conformance/losses_values.lua"
local close, tensor = compare.close, compare.tensor

compare.covers(gb.losses, { Distillation = "Keras has no such class" }, reference.losses)
compare.covers(gb.metrics, { Mean = "it takes values alone" }, reference.metrics)

-- What a model reports whose outputs are these predictions, behind an activation where there is one.
local function evaluated(case, compiled, options)
  local predictions = tensor(case.predictions)
  local model = gb.Sequential { compare.symbol(predictions), gb.layers.Activation(case.behind or "linear") }
  model:compile(compare.copy(compiled, { optimizer = "sgd" }))
  return model:evaluate(predictions, tensor(case.labels), options)
end

compare.run(reference.losses, function(case)
  local function loss() return gb.losses[case.class](compare.copy(case.options)) end
  if case.weights then
    local options = { sample_weight = tensor(case.weights) }
    close(evaluated(case, { loss = loss() }, options).loss, case.weighted, 5e-6, "weighted value of evaluate")
  end
  if case.options.reduction ~= "none" then
    close(evaluated(case, { loss = loss() }).loss, case.value, 2e-6, "value of evaluate")
  end
  if case.saturated then return end
  local labels, predictions = tensor(case.labels), tensor(case.predictions)
  local activation = gb.layers.Activation(case.behind or "linear")
  local tape <close> = gb.tape()
  local value = loss()(labels, activation(predictions))
  close(value, case.value, 2e-6, "value")
  close(tape:gradient(value:sum(), predictions), case.gradient, 1e-5, "gradient")
end, {
  ["BinaryCrossentropy, chances of 0 and 1"] = "the gradient of a chance of 0 or 1 lets it come back; Keras has 0",
  ["SparseCategoricalCrossentropy from_logits=True ignore_class=1"] = {
    "it is missing", "unknown option 'ignore_class'" },
  ["CosineSimilarity axis=1"] = { "it is of the last dimension", "unknown option 'axis'" },
  ["MeanSquaredError reduction=mean_with_sample_weight, weighted"] = {
    "it is missing", "known: sum_over_batch_size, mean, sum, none" },
})

compare.run(reference.metrics, function(case)
  local labels, predictions, count = tensor(case.labels), tensor(case.predictions), #case.labels
  local metric = gb.metrics[case.class](next(case.options) and compare.copy(case.options) or nil)
  local function loss(_, output) return output:square() end
  if case.weights then
    local figures = evaluated(case, { loss = loss, weighted_metrics = { metric } },
      { batch_size = case.split, sample_weight = tensor(case.weights) })
    return close(figures[metric.name], case.result, 2e-6, "weighted result of evaluate")
  end
  metric:update_state(labels[{ 1, case.split }], predictions[{ 1, case.split }])
  metric:update_state(labels[{ case.split + 1, count }], predictions[{ case.split + 1, count }])
  close(metric:result(), case.result, 2e-6, "result")
  local figures = evaluated(case, { loss = loss, metrics = { metric } }, { batch_size = case.split })
  close(figures[metric.name], case.result, 2e-6, "result of evaluate")
end, {
  ["Accuracy, class indices"] = {
    "it is the \"accuracy\" of compile, which is no comparison of indices", "predictions must be floating-point" },
  ["BinaryAccuracy, labels between 0 and 1"] = "the threshold is one of labels too, which Keras takes for wrong",
  ["TopKCategoricalAccuracy k=1, ties"] = "of classes that tie, the first count; Keras counts all",
  ["SparseTopKCategoricalAccuracy k=1, ties"] = "of classes that tie, the first count; Keras counts all",
  ["AUC num_thresholds=10, weighted"] = { "it counts examples", "metrics that average values take weights" },
  ["Precision thresholds=0.7, weighted"] = { "it counts examples", "metrics that average values take weights" },
  ["Recall thresholds=0.3, weighted"] = { "it counts examples", "metrics that average values take weights" },
  ["F1Score average=weighted, weighted"] = { "it counts examples", "metrics that average values take weights" },
  ["AUC from_logits=True"] = { "it is missing", "unknown option 'from_logits'" },
  ["AUC multi_label=True"] = { "it is missing", "unknown option 'multi_label'" },
  ["AUC curve=PR summation_method=minoring"] = { "it is missing", "unknown option 'summation_method'" },
  ["Precision thresholds=[0.3,0.7]"] = { "one figure has one threshold", "option 'thresholds'" },
  ["Precision top_k=1"] = { "it is missing", "unknown option 'top_k'" },
  ["Recall top_k=2"] = { "it is missing", "unknown option 'top_k'" },
  ["F1Score"] = "a number for each class is no figure of a history",
})

compare.run(reference.shapes, function(case)
  local figures = evaluated(case, { loss = case.loss, metrics = case.metrics }, { batch_size = 4 })
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
