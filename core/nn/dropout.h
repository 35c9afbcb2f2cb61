// Sets a share of its inputs to zero in training and scales the rest up; passes them on unchanged otherwise.
#pragma once
#include "core/nn/layer_kind.h"

namespace gpubench::nn {

class Dropout final : public Layer {
 public:
  static LayerKind layer_kind();
  Dropout(Config config, DeviceId device);
  std::string default_name() const override { return "dropout"; }
  bool draws() const override { return rate_ > 0; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) override;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;

  std::uint64_t unused_seed(const CallContext& context) const;

  double rate_;
  std::uint64_t seed_;
};

}  // namespace gpubench::nn
