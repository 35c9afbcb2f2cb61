// The common part of Dense, Conv1D and Conv2D: a kernel whose last dimension is the output channels, a bias, an
// activation, and the option `quantization`. "aware": computes in float32, with input and kernel rounded as in int8, so
// that training adapts to it. "int8": computes in int8, with one scale per output channel for the kernel and one scale
// for the input. Both are symmetric.
#pragma once
#include <string>

#include "core/nn/activation.h"

namespace gpubench {

class LinearLayer : public Layer {
 public:
  enum class Quantization : std::uint8_t { none, aware, int8 };

  const LinearLayer* linear() const override { return this; }
  std::string precision() const final;

  Quantization quantization() const { return quantization_; }
  bool integer() const { return quantization_ == Quantization::int8; }
  /// Whether the output has an activation besides product and bias.
  bool has_activation() const { return !activation_.is_linear(); }
  /// The option with the number of output channels: "units", "filters".
  const std::string& width_option() const { return width_option_; }
  /// [..., inputs, outputs]; null before the layer is built.
  const VariablePtr& kernel() const { return kernel_; }
  /// [outputs]; null if there is none.
  const VariablePtr& bias() const { return bias_; }
  /// "input_range" for "aware" layers: moving average of the batches' largest magnitudes, over all replicas; 0 before
  /// the first batch.
  const VariablePtr& input_range() const { return input_range_; }

  /// The error for training an int8 layer.
  static constexpr const char* untrainable =
      "computes in int8, which has no gradient; train the model that it was "
      "made of, or one that gb.quantize.aware makes";

 protected:
  /// The layer's own options, then activation, use_bias, the initializers and quantization.
  static std::vector<ConfigField> fields(std::vector<ConfigField> own);
  /// Throws Error for an unknown activation, initializer or quantization, and for a quantized layer that does not
  /// compute in float32.
  LinearLayer(Config config, DeviceId device, std::string width_option);

  std::int64_t width() const { return width_; }
  Dtype output_dtype() const;
  /// The kernel's shape for these inputs.
  virtual Shape kernel_shape(TensorTypes inputs) const = 0;
  /// The product of the input and the kernel, in float32 and in int8; `scale` [outputs] is the scale of the int32 sums.
  virtual Value product(Graph& graph, Value x, Value kernel) const = 0;
  virtual Value integer_product(Graph& graph, Value x, Value kernel, Value scale) const = 0;
  /// The activation of product plus bias.
  Value output_of(const CallContext& context, Value x) const;
  /// output_of without the activation.
  Value sums_of(const CallContext& context, Value x) const;
  const ActivationOption& activation() const { return activation_; }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) final;
  Value moved_range(const CallContext& context, Value x) const;
  Value rounded_input(const CallContext& context, Value x) const;
  Value rounded_kernel(const CallContext& context) const;

  std::string width_option_;
  std::int64_t width_;
  ActivationOption activation_;
  Quantization quantization_;
  VariablePtr kernel_, bias_, input_range_;
  VariablePtr kernel_scale_, input_scale_;  // [outputs] and [], of an int8 layer
};

}  // namespace gpubench
