// y = activation(x W + b) over the last dimension.
#pragma once
#include "core/nn/kernel_quantizer.h"
#include "core/nn/layer_kind.h"

namespace gpubench::nn {

class Dense final : public Layer {
 public:
  static LayerKind layer_kind();
  Dense(Config config, DeviceId device);
  std::string default_name() const override { return "dense"; }
  std::string precision() const override { return quantizer_.precision(policy()); }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) override;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
  Value product(const CallContext& context, Value x) const;

  std::int64_t units_;
  std::string activation_;
  KernelQuantizer quantizer_;
  VariablePtr kernel_, bias_;
};

}  // namespace gpubench::nn
