// Normalizes each channel by its mean and (biased) variance over all dimensions but the last. Scale and shift are
// inputs; running statistics belong to the layer. Tensors of shape [channels] have the type of x, or are float32 for a
// 16-bit x, because averages over many steps need the precision.
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// What follows the normalization in the same pass over memory, and what its gradient undoes (pass fuse_batch_norm).
enum class NormEpilogue : std::uint8_t {
  none,
  relu,      ///< relu(normalized)
  add_relu,  ///< relu(normalized + shortcut), as at the end of a residual block
};

/// x [..., channels], gamma, beta[, shortcut of x's type] -> the epilogue of gamma (x - mean) / sqrt(variance +
/// epsilon)
/// + beta, mean, variance (each [channels]).
class BatchNorm final : public Op {
 public:
  explicit BatchNorm(float given_epsilon, NormEpilogue given_epilogue = NormEpilogue::none)
      : epsilon(given_epsilon), epilogue(given_epilogue) {}
  std::string_view name() const override { return "batch_norm"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// Of the plain normalization: epilogues are fused behind the gradients.
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const float epsilon;
  const NormEpilogue epilogue;
};

/// x, gamma, mean, variance, dy -> dx, dgamma, dbeta, where mean and variance are those of x. An epilogue adds what
/// tells where relu was positive: with `relu` input 5 is beta, from which it is computed again; with `add_relu` input 5
/// is the op's result y, and output 3 the gradient of the shortcut.
class BatchNormGradient final : public Op {
 public:
  explicit BatchNormGradient(float given_epsilon, NormEpilogue given_epilogue = NormEpilogue::none)
      : epsilon(given_epsilon), epilogue(given_epilogue) {}
  std::string_view name() const override { return "batch_norm_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const float epsilon;
  const NormEpilogue epilogue;
};

/// Whether `op` is a batch normalization, or its gradient, with an epilogue.
bool is_fused_batch_norm(const Op& op);

/// x, gamma, beta, mean, variance -> as BatchNorm without an epilogue, with given statistics
class BatchNormInference final : public Op {
 public:
  explicit BatchNormInference(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "batch_norm_inference"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const float epsilon;
};

/// x, gamma, mean, variance, dy -> dx, dgamma, dbeta; mean and variance are constants
class BatchNormInferenceGradient final : public Op {
 public:
  explicit BatchNormInferenceGradient(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "batch_norm_inference_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Alias> aliases() const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const float epsilon;
};

namespace ops {

/// The normalized values; mean and variance are outputs 1 and 2 of the same node.
Value batch_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon);
Value batch_norm_inference(Graph& graph, Value x, Value gamma, Value beta, Value mean, Value variance, float epsilon);

struct Normalized {
  Value y, mean, variance;
};
/// The loss that replicas differentiate before they add up gradients.
enum class ReplicaLoss : std::uint8_t {
  part,  ///< the replica's part of the mean over all examples
  own,   ///< the mean over the replica's own examples; its gradients are weighted by its share before they are added
};
/// batch_norm over the examples of all replicas, of which this replica's x is the share `weight`. Exchanges means and
/// variances [channels], two in the forward pass and two in the backward pass. The exchanged squares are of differences
/// from the mean, for accuracy.
Normalized synchronized_batch_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon, double weight,
                                   ReplicaLoss loss = ReplicaLoss::part);

}  // namespace ops
}  // namespace gpubench
