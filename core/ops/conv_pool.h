// Convolution and the max pool behind it as one op, and the part of its derivative that needs no convolution's result:
// a backend can then keep that result, the largest tensor of a small model, in its caches.
#pragma once
#include "core/ops/conv.h"
#include "core/ops/pool.h"

namespace gpubench {

/// x, filter[, bias] -> y, winners: max_pool2d(conv2d(x, filter, bias)). Activations: none, relu, sigmoid or tanh,
/// which do not change which element is largest.
class Conv2DMaxPool final : public Op {
 public:
  Conv2DMaxPool(Conv2DAttributes conv_options, Pool2DAttributes pool_options)
      : conv(conv_options), pool(pool_options) {}
  std::string_view name() const override { return "conv2d_max_pool"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  /// Of the convolution and the pool.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  /// What lies between the two.
  TensorType convolved(std::span<const TensorType> inputs) const;

  const Conv2DAttributes conv;
  const Pool2DAttributes pool;
};

/// x, dy of the pool, winners -> dfilter of `filter_shape`; dy is the gradient before the activation.
class Conv2DMaxPoolFilterGradient final : public Op {
 public:
  /// Bias and activation of the convolution are ignored.
  Conv2DMaxPoolFilterGradient(Conv2DAttributes conv_options, Pool2DAttributes pool_options, Shape filter);
  std::string_view name() const override { return "conv2d_max_pool_filter_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;

  /// The gradient of the convolution's result, which lies between the two.
  TensorType spread(const TensorType& x) const;

  const Conv2DAttributes conv;
  const Pool2DAttributes pool;
  const Shape filter_shape;
};

namespace ops {

/// The maxima; the winners are output 1 of the same node.
Value conv2d_max_pool(Graph& graph, std::span<const Value> inputs, const Conv2DAttributes& conv,
                      const Pool2DAttributes& pool);
Value conv2d_max_pool_filter_gradient(Graph& graph, Value x, Value dy, Value winners, const Conv2DAttributes& conv,
                                      const Pool2DAttributes& pool, Shape filter_shape);

}  // namespace ops
}  // namespace gpubench
