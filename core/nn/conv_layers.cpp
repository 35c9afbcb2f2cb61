// Conv1D and Conv2D: one class, in which a sequence is an image of one row.
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/nn/linear_layer.h"
#include "core/nn/sliding.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// With bias and activation. `spatial`: 1 for sequences, 2 for images.
template <int spatial>
class Conv final : public LinearLayer {
 public:
  static std::vector<ConfigField> fields() {
    const Shape ones(spatial, 1);
    return LinearLayer::fields({{"filters", std::int64_t{0}, true},
                                {"kernel_size", Shape{}, true},
                                {"strides", ones},
                                {"padding", std::string("valid")},
                                {"dilation_rate", ones},
                                {"groups", std::int64_t{1}}});
  }
  Conv(Config given, DeviceId device)
      : LinearLayer(std::move(given), std::move(device), "filters"),
        size_(sliding_extents(*this, "kernel_size", spatial)),
        causal_(spatial == 1 && config().text("padding") == "causal") {
    options_.strides = sliding_extents(*this, "strides", spatial);
    options_.dilations = sliding_extents(*this, "dilation_rate", spatial);
    options_.padding = causal_ ? Padding::valid : padding_of(*this);
    options_.groups = config().integer_from("groups", 1);
    if (width() % options_.groups != 0) {
      throw Error(fmt::format("{}: filters must be a multiple of groups, got {} filters in {} groups", kind(), width(),
                              options_.groups));
    }
    if (options_.groups > 1 && quantization() != Quantization::none) {
      throw Error(fmt::format("{}: quantization is for layers with groups = 1, got {}", kind(), options_.groups));
    }
  }
  std::string default_name() const override { return spatial == 1 ? "conv1d" : "conv2d"; }
  const LinearLayer* linear() const override { return options_.groups == 1 ? this : nullptr; }

  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, spatial + 1, sliding_form(spatial));
    const std::int64_t channels = input.shape.back();
    if (channels % options_.groups != 0) {
      fail(fmt::format("has {} groups, which do not divide the channels of {}", options_.groups, to_string(input)));
    }
    if (kernel() && kernel_channels() * options_.groups != channels) {
      fail(fmt::format("was built for {} channels, got {}", kernel_channels() * options_.groups, to_string(input)));
    }
    TensorType image = as_image(input, spatial);
    image.shape[1] += before();
    return {example_shape(count_windows(*this, image, size_, options_), width(), spatial), output_dtype()};
  }

 private:
  /// Input channels of a group.
  std::int64_t kernel_channels() const { return kernel()->type.shape[spatial]; }
  /// Steps of zeros in front of a causal convolution's sequence.
  std::int64_t before() const { return causal_ ? (size_[1] - 1) * options_.dilations[1] : 0; }

  Shape kernel_shape(TensorTypes inputs) const override {
    Shape shape = example_shape(size_, inputs[0].shape.back() / options_.groups, spatial);
    shape.push_back(width());
    return shape;
  }
  Value filter(Graph& graph, Value kernel) const {
    const Shape& shape = graph.type(kernel).shape;
    return ops::reshape(graph, kernel, {size_[0], size_[1], shape[spatial], shape[spatial + 1]});
  }
  Value product(Graph& graph, Value x, Value kernel) const override {
    return ops::conv2d(graph, x, filter(graph, kernel), options_);
  }
  Value integer_product(Graph& graph, Value x, Value kernel, Value scale) const override {
    return ops::quantized_conv2d(graph, x, filter(graph, kernel), scale, options_);
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    Value x = as_images(graph, inputs[0], spatial);
    if (before() > 0) x = ops::pad(graph, x, {0, 0, before(), 0}, {});
    return from_images(graph, output_of(context, x), spatial);
  }

  Extents size_;
  bool causal_;
  Conv2DAttributes options_;
};

template <int spatial>
LayerKind conv_kind(const char* name) {
  return {
      name, {"filters", "kernel_size", "strides", "padding"}, Conv<spatial>::fields(), &construct_layer<Conv<spatial>>};
}

}  // namespace

LayerKind conv1d() {
  return conv_kind<1>("Conv1D");
}
LayerKind conv2d() {
  return conv_kind<2>("Conv2D");
}

}  // namespace gpubench::nn
