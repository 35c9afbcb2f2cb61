// The part of a training step that ends with its gradients, of a batch in one or several parts.
#pragma once
#include <optional>
#include <span>
#include <vector>

#include "core/passes/recompute.h"
#include "core/train/step_losses.h"

namespace gpubench {

/// A training step up to its gradients.
struct StepGradients {
  std::vector<Value> values;         ///< by trainable variable; none where the loss does not depend on it
  std::vector<VariablePtr> updated;  ///< others that layers have updated
  std::vector<GradientSection> sections{};
};

/// The whole element, or the rows of it that `share` gives a replica; without rows, what such a replica adds to the
/// others' exchanges: zeros. Throws Error for a batch that cannot be accumulated in equal parts.
StepGradients add_gradients_of_step(Graph& graph, const Model& model, const CompileConfig& config,
                                    const MetricStates& metrics, Figures& figures, std::span<const TensorType> element,
                                    const std::optional<BatchShare>& share);

}  // namespace gpubench
