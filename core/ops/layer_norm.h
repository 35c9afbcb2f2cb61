// Normalizes each row (the last dimension) by its own statistics: LayerNorm by mean and biased variance, RmsNorm by the
// root of the mean square. Forward also gives the statistics of the rows, always float32, from which the gradient
// computes the normalized values again. gamma and beta have the type of x, or are float32 for a 16-bit x.
#pragma once
#include "core/ops/simple_op.h"

namespace gpubench {

/// x [..., channels], gamma, beta [channels] -> gamma (x - mean) inverse + beta, mean, inverse (each [...], float32),
/// where inverse = 1 / sqrt(variance + epsilon).
class LayerNorm final : public Op {
 public:
  explicit LayerNorm(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "layer_norm"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const float epsilon;
};

/// x, gamma, mean, inverse, dy -> dx, dgamma, dbeta
struct LayerNormGradient final : SimpleOp {
  LayerNormGradient();
};

/// x [..., channels], gamma [channels] -> gamma x inverse, inverse ([...], float32), where
/// inverse = 1 / sqrt(mean(x^2) + epsilon).
class RmsNorm final : public Op {
 public:
  explicit RmsNorm(float given_epsilon) : epsilon(given_epsilon) {}
  std::string_view name() const override { return "rms_norm"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const float epsilon;
};

/// x, gamma, inverse, dy -> dx, dgamma
struct RmsNormGradient final : SimpleOp {
  RmsNormGradient();
};

namespace ops {

Value layer_norm(Graph& graph, Value x, Value gamma, Value beta, float epsilon);
Value rms_norm(Graph& graph, Value x, Value gamma, float epsilon);

}  // namespace ops
}  // namespace gpubench
