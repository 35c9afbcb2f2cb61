// What Dense and Conv2D share: a kernel whose last dimension are the output channels, a bias, an activation, and how
// they compute when the option `quantization` is not empty. "aware": in float32, with input and kernel rounded as int8
// would be, so that training learns to live with it. "int8": in int8, with a kernel that is quantized by output channel
// and an input that is quantized by one scale. Both are symmetric.
#pragma once
#include <string>

#include "core/nn/layer.h"

namespace gpubench {

class LinearLayer : public Layer {
 public:
  enum class Quantization : std::uint8_t { none, aware, int8 };

  const LinearLayer* linear() const final { return this; }
  std::string precision() const final;

  Quantization quantization() const { return quantization_; }
  bool integer() const { return quantization_ == Quantization::int8; }
  /// Whether the layer's output is its product with the bias and no more.
  bool has_activation() const { return !activation_.empty() && activation_ != "linear"; }
  /// The name of the option that says how many output channels there are: "units", "filters".
  const std::string& width_option() const { return width_option_; }
  /// [..., inputs, outputs]; null before the layer is built.
  const VariablePtr& kernel() const { return kernel_; }
  /// [outputs]; null where there is none.
  const VariablePtr& bias() const { return bias_; }
  /// "input_range", where aware: the moving average of the batches' largest magnitudes, over the rows of all replicas;
  /// 0 before the first.
  const VariablePtr& input_range() const { return input_range_; }

  /// Why an integer product is no part of a training.
  static constexpr const char* untrainable =
      "computes in int8, which has no gradient; train the model that it was made of, or one that gb.quantize.aware "
      "makes";

 protected:
  /// The layer's own options, then activation, use_bias, the initializers and quantization.
  static std::vector<ConfigField> fields(std::vector<ConfigField> own);
  /// Throws Error for an unknown activation, initializer or quantization, and for a quantized layer that does not
  /// compute in float32.
  LinearLayer(Config config, DeviceId device, std::string width_option);

  std::int64_t width() const { return width_; }
  Dtype output_dtype() const;
  /// The kernel's shape for these inputs.
  virtual Shape kernel_shape(std::span<const TensorType> inputs) const = 0;
  /// The product of what the layer reads with its kernel, and the same in int8, `scale` [outputs] being that of its
  /// sums.
  virtual Value product(Graph& graph, Value x, Value kernel) const = 0;
  virtual Value integer_product(Graph& graph, Value x, Value kernel, Value scale) const = 0;
  /// The activation of the product and the bias.
  Value output_of(const CallContext& context, Value x) const;

 private:
  void make_variables(VariableFactory& factory, std::span<const TensorType> inputs) final;
  Value moved_range(const CallContext& context, Value x) const;
  Value rounded_input(const CallContext& context, Value x) const;
  Value rounded_kernel(const CallContext& context) const;

  std::string width_option_;
  std::int64_t width_;
  std::string activation_;
  Quantization quantization_;
  VariablePtr kernel_, bias_, input_range_;
  VariablePtr kernel_scale_, input_scale_;  // [outputs] and []; beside the kernel of an integer layer
};

}  // namespace gpubench
