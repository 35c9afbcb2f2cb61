// Products of int8 with int32 sums, whose kernels convert the sums to float32, or to int8 for the next such product.
// Weights have one scale per output channel, inputs one scale.
//
// Weights can be packed: int8 in the order in which the backend's kernel reads them. The pass pack_weights adds
// PackWeights in front of products whose weights are the same in every run; executors then pack only after the weights
// were written.
#pragma once
#include "core/graph/graph.h"
#include "core/ops/conv.h"

namespace gpubench {

/// What is computed from the sums: y = activation(sum * scale + bias), or quantize(y, next scale). Inputs after x and
/// the weights: scale float32 [channels] (input scale times weight scale), then, if used, the bias float32 [channels]
/// and the next scale float32 [].
struct QuantizedEpilogue {
  bool bias = false;
  Activation activation = Activation::none;
  bool requantize = false;
  /// The shape of unpacked weights if the weights are packed (by PackWeights for this very op); else empty.
  Shape packed = {};
};

/// x int8 [m, k], weights int8 [k, n], scale float32 [n], ... -> float32 or int8 [m, n]
class QuantizedMatmul final : public Op {
 public:
  explicit QuantizedMatmul(QuantizedEpilogue given = {}) : options(std::move(given)) {}
  std::string_view name() const override { return "quantized_matmul"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// 2 m n k integer operations; the epilogue is not counted.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const QuantizedEpilogue options;
};

struct QuantizedConv2DAttributes : QuantizedEpilogue {
  Extents strides = {1, 1};
  Padding padding = Padding::valid;
  Extents dilations = {1, 1};

  /// The options of the convolution without bias and activation.
  Conv2DAttributes window() const { return {.strides = strides, .padding = padding, .dilations = dilations}; }
};

/// x int8 [batch, height, width, channels], filter int8 [height, width, input channels, output channels], scale
/// float32 [output channels], ... -> float32 or int8 images
class QuantizedConv2D final : public Op {
 public:
  explicit QuantizedConv2D(QuantizedConv2DAttributes given = {}) : options(std::move(given)) {}
  std::string_view name() const override { return "quantized_conv2d"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const QuantizedConv2DAttributes options;
};

/// The weights' type, packed or not, from the inputs of a QuantizedMatmul or QuantizedConv2D.
TensorType weights_type(const QuantizedEpilogue& options, TensorTypes inputs);

/// int8 elements that hold packed weights [k, n] or [height, width, input channels, output channels] for any backend:
/// channels rounded up to vector blocks, plus sums that some kernels store beside them.
TensorType packed_type(const TensorType& weights);

/// weights -> packed_type(weights)
class PackWeights final : public Op {
 public:
  /// `product`: the QuantizedMatmul or QuantizedConv2D that reads the packed weights, with its option `packed`. `x`:
  /// the type of the input that it multiplies.
  PackWeights(OpPtr product, TensorType x);
  std::string_view name() const override { return "pack_weights"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }

  const OpPtr product;
  const TensorType x;
};

namespace ops {

Value quantized_matmul(Graph& graph, Value x, Value weights, Value scale);
Value quantized_conv2d(Graph& graph, Value x, Value filter, Value scale, const Conv2DAttributes& window);

}  // namespace ops
}  // namespace gpubench
