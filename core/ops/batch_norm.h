// Normalization of each channel by its mean and (biased) variance over everything but the last dimension. Scale and
// shift are inputs; the running statistics are the layer's affair. All that is [channels] has the type of x, or is
// float32 beside an x of 16 bits: means and variances that are averaged over many steps need the bits.
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// x [..., channels], gamma, beta -> gamma (x - mean) / sqrt(variance + epsilon) + beta, mean, variance (each
/// [channels]).
class BatchNorm final : public Op {
 public:
  explicit BatchNorm(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "batch_norm"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const float epsilon;
};

/// x, gamma, mean, variance, dy -> dx, dgamma, dbeta, where mean and variance are those of x
class BatchNormGradient final : public Op {
 public:
  explicit BatchNormGradient(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "batch_norm_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const float epsilon;
};

/// x, gamma, beta, mean, variance -> the same as BatchNorm, with statistics that are given
class BatchNormInference final : public Op {
 public:
  explicit BatchNormInference(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "batch_norm_inference"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const float epsilon;
};

/// x, gamma, mean, variance, dy -> dx, dgamma, dbeta; mean and variance are constants
class BatchNormInferenceGradient final : public Op {
 public:
  explicit BatchNormInferenceGradient(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "batch_norm_inference_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Alias> aliases() const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  const float epsilon;
};

namespace ops {

/// The normalized values; mean and variance are outputs 1 and 2 of the same node.
Value batch_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon);
Value batch_norm_inference(Graph& graph, Value x, Value gamma, Value beta, Value mean, Value variance, float epsilon);

struct Normalized {
  Value y, mean, variance;
};
/// Of what replicas differentiate, and add up the gradients of.
enum class ReplicaLoss : std::uint8_t {
  part,  ///< a replica's part of the mean over all examples
  own,   ///< the mean over its own examples; its gradients are weighted by its share before they are added up
};
/// batch_norm of the examples of all replicas, of which this one's x has the share `weight`. What it exchanges are
/// means and variances [channels], two in the forward pass and two in the backward pass; the squares that it adds up
/// are of differences from the mean.
Normalized synchronized_batch_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon, double weight,
                                   ReplicaLoss loss = ReplicaLoss::part);

}  // namespace ops
}  // namespace gpubench
