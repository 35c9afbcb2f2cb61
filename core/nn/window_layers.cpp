// Layers that slide a window over images [height, width, channels]: convolution, and pooling, which gives the largest
// or the mean value of each window, or the mean of the whole image.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/nn/linear_layer.h"
#include "core/ops/conv.h"
#include "core/ops/pool.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/reduce.h"
#include "core/ops/window.h"

namespace gpubench::nn {
namespace {

constexpr std::string_view image_form = "[height, width, channels]";

/// The option "padding".
Padding padding_of(const Layer& layer) {
  const std::string& padding = layer.config().text("padding");
  if (padding != "same" && padding != "valid") {
    layer.fail(fmt::format("padding must be 'same' or 'valid', got '{}'", padding));
  }
  return parse_padding(padding);
}

/// Windows along `axis` (0: height, 1: width) of one example.
std::int64_t windows_along(const Layer& layer, const TensorType& input, std::size_t axis, const Extents& size,
                           const Extents& strides, Padding padding) {
  if (padding == Padding::valid && size[axis] > input.shape[axis]) {
    layer.fail(fmt::format("a window of {} does not fit into {}; use padding = 'same' or a smaller window",
                           to_string(size), to_string(input)));
  }
  return slide(layer.kind(), input.shape[axis], size[axis], strides[axis], 1, padding).outputs;
}

/// With bias and activation.
class Conv2D final : public LinearLayer {
 public:
  static std::vector<ConfigField> fields() {
    return LinearLayer::fields({{"filters", std::int64_t{0}, true},
                                {"kernel_size", Shape{}, true},
                                {"strides", Shape{1, 1}},
                                {"padding", std::string("valid")}});
  }
  Conv2D(Config given, DeviceId device)
      : LinearLayer(std::move(given), std::move(device), "filters"), size_(config().pair("kernel_size")) {
    options_.strides = config().pair("strides");
    options_.padding = padding_of(*this);
  }
  std::string default_name() const override { return "conv2d"; }

  TensorType output_type(std::span<const TensorType> inputs) const override {
    const TensorType& input = only_input(inputs, 3, image_form);
    if (kernel() && kernel()->type.shape[2] != input.shape[2]) {
      fail(fmt::format("was built for {} channels, got {}", kernel()->type.shape[2], to_string(input)));
    }
    return {{windows_along(*this, input, 0, size_, options_.strides, options_.padding),
             windows_along(*this, input, 1, size_, options_.strides, options_.padding), width()},
            output_dtype()};
  }

 private:
  Shape kernel_shape(std::span<const TensorType> inputs) const override {
    return {size_[0], size_[1], inputs[0].shape[2], width()};
  }
  Value product(Graph& graph, Value x, Value kernel) const override { return ops::conv2d(graph, x, kernel, options_); }
  Value integer_product(Graph& graph, Value x, Value kernel, Value scale) const override {
    return ops::quantized_conv2d(graph, x, kernel, scale, options_);
  }
  Value apply(const CallContext& context, std::span<const Value> inputs) const override {
    return output_of(context, inputs[0]);
  }

  Extents size_;
  Conv2DAttributes options_;
};

/// What MaxPooling2D and AveragePooling2D share: window, strides (the window's size unless given) and padding.
class WindowPooling : public Layer {
 public:
  static std::vector<ConfigField> fields() {
    return {{"pool_size", Shape{2, 2}}, {"strides", Shape{}}, {"padding", std::string("valid")}};
  }
  WindowPooling(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    options_.size = config().pair("pool_size");
    options_.strides = config().shape("strides").empty() ? options_.size : config().pair("strides");
  }
  TensorType output_type(std::span<const TensorType> inputs) const override {
    const TensorType& input = only_input(inputs, 3, image_form);
    return {{windows_along(*this, input, 0, options_.size, options_.strides, options_.padding),
             windows_along(*this, input, 1, options_.size, options_.strides, options_.padding), input.shape[2]},
            input.dtype};
  }

 protected:
  Pool2DAttributes options_;
};

class MaxPooling2D final : public WindowPooling {
 public:
  MaxPooling2D(Config given, DeviceId device) : WindowPooling(std::move(given), std::move(device)) {
    options_.padding = padding_of(*this);  // names the layer when it fails, which its base cannot do
  }
  std::string default_name() const override { return "max_pooling2d"; }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override {
    return ops::max_pool2d(context.graph, inputs[0], options_);
  }
};

class AveragePooling2D final : public WindowPooling {
 public:
  AveragePooling2D(Config given, DeviceId device) : WindowPooling(std::move(given), std::move(device)) {
    options_.padding = padding_of(*this);
  }
  std::string default_name() const override { return "average_pooling2d"; }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override {
    return ops::average_pool2d(context.graph, inputs[0], options_);
  }
};

/// [height, width, channels] -> [channels].
class GlobalAveragePooling2D final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "global_average_pooling2d"; }
  TensorType output_type(std::span<const TensorType> inputs) const override {
    const TensorType& input = only_input(inputs, 3, image_form);
    return {{input.shape[2]}, input.dtype};
  }

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override {
    return ops::reduce_mean(context.graph, inputs[0], {1, 2}, false);
  }
};

}  // namespace

LayerKind conv2d() {
  return {"Conv2D", {"filters", "kernel_size"}, Conv2D::fields(), &construct_layer<Conv2D>};
}
LayerKind max_pooling2d() {
  return {"MaxPooling2D", {"pool_size"}, WindowPooling::fields(), &construct_layer<MaxPooling2D>};
}
LayerKind average_pooling2d() {
  return {"AveragePooling2D", {"pool_size"}, WindowPooling::fields(), &construct_layer<AveragePooling2D>};
}
LayerKind global_average_pooling2d() {
  return {"GlobalAveragePooling2D", {}, {}, &construct_layer<GlobalAveragePooling2D>};
}

}  // namespace gpubench::nn
