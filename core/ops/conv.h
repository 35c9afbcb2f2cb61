// Two-dimensional convolution, with a layer's bias and activation as an epilogue, and its two gradients. Images are
// [batch, height, width, channels], filters [height, width, input channels / groups, output channels]. Group g of the
// output channels, which are contiguous, reads group g of the input channels; a depthwise convolution has one input
// channel in each group. Convolution and the following max pool can be one op, and so can the filter gradient of both:
// a backend can then keep the convolution's result, the largest tensor of a small model, in its caches.
#pragma once
#include "core/graph/graph.h"
#include "core/ops/activation.h"
#include "core/ops/pool.h"
#include "core/ops/window.h"

namespace gpubench {

struct Conv2DAttributes {
  Extents strides = {1, 1};
  Padding padding = Padding::valid;
  Extents dilations = {1, 1};
  std::int64_t groups = 1;
  bool bias = false;  ///< a third input, [output channels]; forward only
  Activation activation = Activation::none;
  /// The filter is [output channels, height, width, input channels / groups]: a pass has turned it, for a backend that
  /// reads it so. Such ops are created after autodiff and have no gradient. Filter gradients are never turned.
  bool turned = false;
};

/// The extents [height, width, input channels / groups, output channels] of a filter that is stored as `stored`.
Shape filter_extents(const Conv2DAttributes& options, const Shape& stored);

/// How the filter slides over the image; throws Error for windows that do not fit.
std::array<WindowAxis, 2> slide(std::string_view op, const Conv2DAttributes& options, const Shape& image,
                                const Shape& filter);

/// x, filter[, bias] -> activation(conv(x, filter) + bias)
class Conv2D final : public Op {
 public:
  explicit Conv2D(Conv2DAttributes given = {}) : options(given) {}
  std::string_view name() const override { return "conv2d"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  /// 2 B Ho Wo Kh Kw Cin Cout / groups, padding included; the epilogue is not counted.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const Conv2DAttributes options;
};

/// dy, filter -> dx of `input_shape`
class Conv2DInputGradient final : public Op {
 public:
  /// Bias and activation of `given` are ignored.
  Conv2DInputGradient(Conv2DAttributes given, Shape shape);
  std::string_view name() const override { return "conv2d_input_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const Conv2DAttributes options;
  const Shape input_shape;
};

/// x, dy -> dfilter of `filter_shape`
class Conv2DFilterGradient final : public Op {
 public:
  /// Bias and activation of `given` are ignored.
  Conv2DFilterGradient(Conv2DAttributes given, Shape shape);
  std::string_view name() const override { return "conv2d_filter_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const Conv2DAttributes options;
  const Shape filter_shape;
};

/// x, filter[, bias] -> y, winners: max_pool2d(conv2d(x, filter, bias)). Activations: none, relu, sigmoid or tanh,
/// which keep the order of elements.
class Conv2DMaxPool final : public Op {
 public:
  Conv2DMaxPool(Conv2DAttributes conv_options, Pool2DAttributes pool_options)
      : conv(conv_options), pool(pool_options) {}
  std::string_view name() const override { return "conv2d_max_pool"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  /// Flops of both convolution and pool.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  /// The type of the convolution's result.
  TensorType convolved(TensorTypes inputs) const;

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
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  /// The type of the gradient of the convolution's result.
  TensorType spread(const TensorType& x) const;

  const Conv2DAttributes conv;
  const Pool2DAttributes pool;
  const Shape filter_shape;
};

namespace ops {

Value conv2d(Graph& graph, Value x, Value filter, Conv2DAttributes options = {});
/// With an epilogue that adds `bias` [output channels].
Value conv2d(Graph& graph, Value x, Value filter, Value bias, Conv2DAttributes options = {});
Value conv2d_input_gradient(Graph& graph, Value dy, Value filter, const Conv2DAttributes& options, Shape input_shape);
Value conv2d_filter_gradient(Graph& graph, Value x, Value dy, const Conv2DAttributes& options, Shape filter_shape);

Value conv2d_max_pool_filter_gradient(Graph& graph, Value x, Value dy, Value winners, const Conv2DAttributes& conv,
                                      const Pool2DAttributes& pool, Shape filter_shape);

}  // namespace ops
}  // namespace gpubench
