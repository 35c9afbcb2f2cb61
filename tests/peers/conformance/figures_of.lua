-- Checks of one case of a loss or a metric (compare.run), by hand and in a model.
local gb = require "gpubench"
local compare = dofile "tests/peers/conformance/compare.lua"
local close, tensor = compare.close, compare.tensor
local figures_of = {}

-- What a model reports whose outputs are these predictions, behind an activation where there is one.
function figures_of.evaluated(case, compiled, options)
  local predictions = tensor(case.predictions)
  local model = gb.Sequential { compare.symbol(predictions), gb.layers.Activation(case.behind or "linear") }
  model:compile(compare.copy(compiled, { optimizer = "sgd" }))
  return model:evaluate(predictions, tensor(case.labels), options)
end

function figures_of.check_loss(case)
  local function loss() return gb.losses[case.class](compare.copy(case.options)) end
  if case.weights then
    local weights = tensor(case.weights)
    close(figures_of.evaluated(case, { loss = loss() }, { sample_weight = weights }).loss, case.weighted, 5e-6,
      "weighted value of evaluate")
    if not case.behind then
      close(loss()(tensor(case.labels), tensor(case.predictions), weights), case.weighted, 5e-6, "weighted value")
    end
  end
  if case.options.reduction ~= "none" then
    close(figures_of.evaluated(case, { loss = loss() }).loss, case.value, 2e-6, "value of evaluate")
  end
  if case.saturated then return end
  local labels, predictions = tensor(case.labels), tensor(case.predictions)
  local activation = gb.layers.Activation(case.behind or "linear")
  local tape <close> = gb.tape()
  local value = loss()(labels, activation(predictions))
  close(value, case.value, 2e-6, "value")
  close(tape:gradient(value:sum(), predictions), case.gradient, 1e-5, "gradient")
end

-- The results of a metric, which a model reports one by one.
local function reported(figures, name, expected)
  if type(expected) ~= "table" then return figures[name] end
  local results = {}
  for index in ipairs(expected) do results[index] = figures[string.format("%s[%d]", name, index)] end
  return results
end

function figures_of.check_metric(case)
  local labels, predictions, count = tensor(case.labels), tensor(case.predictions), #case.labels
  local weights = case.weights and tensor(case.weights)
  local metric = gb.metrics[case.class](next(case.options) and compare.copy(case.options) or nil)
  for _, part in ipairs { { 1, case.split }, { case.split + 1, count } } do
    metric:update_state(labels[part], predictions[part], weights and weights[part])
  end
  close(metric:result(), case.result, 2e-6, "result")
  if not predictions.dtype:find "float" then return end  -- no output of a model
  local function loss(_, output) return output:square() end
  local measured = weights and { loss = loss, weighted_metrics = { metric } } or { loss = loss, metrics = { metric } }
  local figures = figures_of.evaluated(case, measured, { batch_size = case.split, sample_weight = weights })
  close(reported(figures, metric.name, case.result), case.result, 2e-6, "result of evaluate")
end

return figures_of
