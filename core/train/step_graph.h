// The graphs for training, evaluation and prediction of a model. One training step is one graph: forward, loss,
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
  std::vector<VariablePtr> unreached{};  ///< trainable variables on which the loss does not depend
};

/// Inputs: the types of one element, the model's inputs before the labels. Throws Error if they do not fit, for a batch
/// that cannot be divided into equal parts for accumulation, and for recomputed layers that the model lacks. Ignores
/// recompute_budget: see StepPlanner. With a `share`, it is the graph of a replica with those rows of the
/// element's batch, and the update is that of all replicas' examples; without rows, the graph has no inputs.
StepGraph training_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                         TensorTypes element, const std::optional<BatchShare>& share = {});
StepGraph evaluation_graph(const Model& model, const CompileConfig& config, const MetricStates& metrics,
                           TensorTypes element, const std::optional<BatchShare>& share = {});
/// `element` may include labels, which are ignored. Outputs: the model's outputs.
StepGraph prediction_graph(const Model& model, TensorTypes element);

}  // namespace gpubench
