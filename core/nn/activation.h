// An activation function as a layer of its own.
#pragma once
#include "core/nn/layer_kind.h"

namespace gpubench::nn {

class Activation final : public Layer {
 public:
  static LayerKind layer_kind();
  Activation(Config config, DeviceId device);
  std::string default_name() const override { return "activation"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

}  // namespace gpubench::nn
