// Two-dimensional convolution of [height, width, channels] images, with bias and activation.
#pragma once
#include "core/nn/kernel_quantizer.h"
#include "core/nn/layer_kind.h"
#include "core/nn/window_layer.h"
#include "core/ops/conv.h"

namespace gpubench::nn {

class Conv2D final : public WindowLayer {
 public:
  static LayerKind layer_kind();
  Conv2D(Config config, DeviceId device);
  std::string default_name() const override { return "conv2d"; }
  std::string precision() const override { return quantizer_.precision(policy()); }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) override;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
  Value product(const CallContext& context, Value x) const;

  std::int64_t filters_;
  Extents size_;
  Conv2DAttributes options_;
  std::string activation_;
  KernelQuantizer quantizer_;
  VariablePtr kernel_, bias_;
};

}  // namespace gpubench::nn
