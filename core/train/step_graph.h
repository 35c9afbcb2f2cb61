// The graphs that a model is trained, evaluated and used with. One training step is one graph: forward, loss,
// gradients, update, metrics and step counter.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/train/step_losses.h"

namespace gpubench {

struct StepGraph {
  Graph graph;
  std::vector<Value> outputs;
};

/// Inputs: the types of one element, the model's inputs before the labels. Throws Error when they do not fit, for a
/// batch that cannot be accumulated in equal parts, and for layers to be recomputed that the model does not have. What
/// recompute_budget would choose is not looked at: see recomputed_within().
/// With a `share`, it is the graph of a replica that has so many rows of the element's batch, and the update is that of
/// all replicas' examples; without rows, the graph has no inputs.
StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         std::span<const TensorType> element, const std::optional<BatchShare>& share = {});
StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           std::span<const TensorType> element, const std::optional<BatchShare>& share = {});
/// `element` may go on with labels, which are ignored. Outputs: the model's.
StepGraph prediction_graph(const Model& model, std::span<const TensorType> element);

}  // namespace gpubench
