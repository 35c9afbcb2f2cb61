// The loss of independent yes-or-no predictions, element by element, from probabilities or from logits.
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// predictions, targets (same type) -> -(t log p + (1 - t) log(1 - p)), p the prediction or its sigmoid
class BinaryCrossEntropy final : public Op {
 public:
  explicit BinaryCrossEntropy(bool given_from_logits) : from_logits(given_from_logits) {}
  std::string_view name() const override { return "binary_cross_entropy"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const bool from_logits;
};

/// dloss, predictions, targets (same type) -> dpredictions
class BinaryCrossEntropyGradient final : public Op {
 public:
  explicit BinaryCrossEntropyGradient(bool given_from_logits) : from_logits(given_from_logits) {}
  std::string_view name() const override { return "binary_cross_entropy_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }

  const bool from_logits;
};

namespace ops {

Value binary_cross_entropy(Graph& graph, Value predictions, Value targets, bool from_logits);

}  // namespace ops
}  // namespace gpubench
