// Layers that only change the shape of an example.
#pragma once
#include "core/nn/layer_kind.h"

namespace gpubench::nn {

/// [a, b, ...] -> [a * b * ...].
class Flatten final : public Layer {
 public:
  static LayerKind layer_kind();
  using Layer::Layer;
  std::string default_name() const override { return "flatten"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

/// To target_shape, in which one size may be -1.
class Reshape final : public Layer {
 public:
  static LayerKind layer_kind();
  Reshape(Config config, DeviceId device);
  std::string default_name() const override { return "reshape"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
  Shape target_;
};

}  // namespace gpubench::nn
