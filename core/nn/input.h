// Where a model's data enters: a declared shape and element type of one example.
#pragma once
#include "core/nn/layer_kind.h"

namespace gpubench::nn {

class Input final : public Layer {
 public:
  static LayerKind layer_kind();
  Input(Config config, DeviceId device);
  std::string default_name() const override { return "input"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;
  /// The declared type of one example.
  TensorType type() const { return type_; }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
  TensorType type_;
};

}  // namespace gpubench::nn
