// Normalizes each channel (the last dimension) by the batch's mean and variance in training, and by their moving
// averages otherwise. Each replica of a model takes its own examples for the batch, or, synchronized, those of all.
#pragma once
#include "core/nn/layer_kind.h"
#include "core/ops/batch_norm.h"

namespace gpubench::nn {

class BatchNormalization final : public Layer {
 public:
  static LayerKind layer_kind();
  BatchNormalization(Config config, DeviceId device);
  std::string default_name() const override { return "batch_normalization"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) override;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;

  ops::Normalized normalize(const CallContext& context, Value x, Value gamma, Value beta) const;

  double momentum_;
  float epsilon_;
  VariablePtr gamma_, beta_, moving_mean_, moving_variance_;
};

}  // namespace gpubench::nn
