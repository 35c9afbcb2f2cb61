// int8 weights in the order in which the device's kernel reads them. Weights that do not change are laid out so once:
// an executor computes what depends on variables alone when those are written to. The order is the backend's own
// affair; the pass of this name puts the op before products whose weights are the same in every run.
#pragma once
#include "core/ops/quantized_linear.h"

namespace gpubench {

/// Bytes, as int8, that hold weights [k, n] or [height, width, input channels, output channels] in the order of any
/// backend: channels rounded up to the blocks of vectors, and sums that some kernels keep beside them.
TensorType packed_type(const TensorType& weights);

/// weights -> packed_type(weights)
class PackWeights final : public Op {
 public:
  /// `product`: the QuantizedMatmul or QuantizedConv2D that will read them, with its option `packed`, and the type of
  /// the x that it will multiply by them.
  PackWeights(OpPtr product, TensorType x);
  std::string_view name() const override { return "pack_weights"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  double flops(std::span<const TensorType>, std::span<const TensorType>) const override { return 0; }

  const OpPtr product;
  const TensorType x;
};

}  // namespace gpubench
