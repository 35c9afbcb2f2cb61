// Losses, one number per example; softmax and cross-entropy are fused for logits. Predictions are [..., classes];
// labels are distributions of the same type ("categorical") or class indices [...] ("sparse"). An index out of range is
// an Error on the CPU; on a GPU its loss and gradient are NaN. Binary cross-entropy is for independent binary
// predictions, element by element.
#pragma once
#include "core/math/loss.h"
#include "core/ops/simple_op.h"

namespace gpubench {

/// Lower limit of probabilities before their logarithm (and distance from 1 in binary cross-entropy), as in Keras. The
/// derivative is not cut off there, so a certain but wrong prediction still gets a gradient.
using math::smallest_probability;

/// probabilities [..., c], labels [..., c] -> -sum(labels log(probabilities)) [...]
struct CategoricalCrossEntropy final : SimpleOp {
  CategoricalCrossEntropy();
};
/// dloss [...], probabilities, labels -> dprobabilities
struct CategoricalCrossEntropyGradient final : SimpleOp {
  CategoricalCrossEntropyGradient();
};
/// probabilities [..., c], class indices [...] -> -log(probability of the class) [...]
struct SparseCategoricalCrossEntropy final : SimpleOp {
  SparseCategoricalCrossEntropy();
};
/// dloss [...], probabilities, class indices -> dprobabilities
struct SparseCategoricalCrossEntropyGradient final : SimpleOp {
  SparseCategoricalCrossEntropyGradient();
};
/// logits [..., c], labels [..., c] -> loss [...], probabilities [..., c]
struct SoftmaxCrossEntropy final : SimpleOp {
  SoftmaxCrossEntropy();
};
/// dloss [...], probabilities, labels -> dlogits
struct SoftmaxCrossEntropyGradient final : SimpleOp {
  SoftmaxCrossEntropyGradient();
};
/// logits [..., c], class indices [...] -> loss [...], probabilities [..., c]
struct SparseSoftmaxCrossEntropy final : SimpleOp {
  SparseSoftmaxCrossEntropy();
};
/// dloss [...], probabilities, class indices -> dlogits
struct SparseSoftmaxCrossEntropyGradient final : SimpleOp {
  SparseSoftmaxCrossEntropyGradient();
};

/// predictions, targets (same type) -> -(t log p + (1 - t) log(1 - p)), p the prediction or its sigmoid
class BinaryCrossEntropy final : public Op {
 public:
  explicit BinaryCrossEntropy(bool given_from_logits) : from_logits(given_from_logits) {}
  std::string_view name() const override { return "binary_cross_entropy"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const bool from_logits;
};

/// dloss, predictions, targets (same type) -> dpredictions
class BinaryCrossEntropyGradient final : public Op {
 public:
  explicit BinaryCrossEntropyGradient(bool given_from_logits) : from_logits(given_from_logits) {}
  std::string_view name() const override { return "binary_cross_entropy_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }

  const bool from_logits;
};

namespace ops {

/// The loss per example from probabilities. `labels` of the predictions' type are distributions, integer labels are
/// indices.
Value cross_entropy(Graph& graph, Value probabilities, Value labels);
/// The loss per example from logits; the probabilities are output 1 of the same node.
Value softmax_cross_entropy(Graph& graph, Value logits, Value labels);

Value binary_cross_entropy(Graph& graph, Value predictions, Value targets, bool from_logits);

}  // namespace ops
}  // namespace gpubench
