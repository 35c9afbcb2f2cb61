#include "core/train/step_graph.h"

#include <algorithm>

#include "core/train/exchange.h"
#include "core/train/step_backward.h"

namespace gpubench {

StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         std::span<const TensorType> element, const std::optional<BatchShare>& share) {
  StepGraph step;
  Graph& graph = step.graph;
  Figures figures(metrics, share.has_value());
  const std::vector<OwnerPtr> recomputed = layers_named(model, config.recompute, "recompute");
  StepGradients gradients = add_gradients_of_step(graph, model, config, metrics, figures, element, share);
  std::vector<Value> statistics;
  if (share) {
    gradients.values = exchange_gradients(graph, gradients.values, config.replicas->options().compression);
    statistics = exchange_variables(graph, gradients.updated, weight_of(*share));
    figures.exchange(graph);
  }
  const std::vector<VariablePtr> variables = model.trainable_variables();
  if (config.loss_scale) config.loss_scale->apply_scaled(graph, *config.optimizer, gradients.values, variables);
  if (!config.loss_scale) config.optimizer->apply_gradients(graph, gradients.values, variables);
  if (share) assign_variables(graph, gradients.updated, statistics);
  figures.finish(graph);
  if (recomputed.empty()) return step;
  const auto drops = [&](const Node& node) { return std::ranges::find(recomputed, node.owner) != recomputed.end(); };
  graph = recompute({std::move(graph), {}}, gradients.sections, drops).graph;
  return step;
}

StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           std::span<const TensorType> element, const std::optional<BatchShare>& share) {
  StepGraph step;
  Figures figures(metrics, share.has_value());
  if (!share || share->rows > 0) {
    const std::int64_t rows = share                                         ? share->rows
                              : element.empty() || element[0].shape.empty() ? 1
                                                                            : element[0].shape[0];
    StepValues values = bind_element(step.graph, model, with_rows(element, rows), true);
    values.outputs = model.call({step.graph}, values.inputs);
    add_losses(step.graph, model, config, figures, values);
  }
  figures.exchange(step.graph);
  figures.finish(step.graph);
  return step;
}

StepGraph prediction_graph(const Model& model, std::span<const TensorType> element) {
  StepGraph step;
  const StepValues bound = bind_element(step.graph, model, element, false);
  step.outputs = model.call({step.graph}, bound.inputs);
  return step;
}

}  // namespace gpubench
