// Convolutions that are made of others: depthwise (a grouped convolution with one input channel in each group),
// separable (depthwise, then pointwise), and transposed (the input gradient of a convolution).
#include <algorithm>
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

std::vector<ConfigField> depthwise_fields(std::vector<ConfigField> own) {
  own.insert(own.end(),
             {{"depth_multiplier", std::int64_t{1}}, {"depthwise_initializer", std::string("glorot_uniform")}});
  return SlidingLayer::fields(std::move(own));
}

/// A depthwise convolution, which makes depth_multiplier output channels of each input channel.
class Depthwise : public SlidingLayer {
 public:
  Depthwise(Config given, DeviceId device)
      : SlidingLayer(std::move(given), std::move(device)), multiplier_(bounded_option(*this, "depth_multiplier")) {
    initializer("depthwise_initializer");
  }

 protected:
  /// [height, width, channels] of the depthwise convolution's result.
  Shape depthwise_shape(TensorTypes inputs) const {
    const TensorType& input = only_input(inputs, 3, sliding_form(2));
    if (kernel_ && kernel_->type.shape[2] != input.shape[2]) {
      fail(fmt::format("was built for {} channels, got {}", kernel_->type.shape[2], to_string(input)));
    }
    return example_shape(count_windows(*this, input, size(), window()), input.shape[2] * multiplier_, 2);
  }
  void make_depthwise_kernel(VariableFactory& factory, const std::string& name, const TensorType& input) {
    kernel_ = make_variable(factory, name, {size()[0], size()[1], input.shape[2], multiplier_},
                            initializer("depthwise_initializer"));
  }
  Value convolve_depthwise(const CallContext& context, Value x) const {
    Conv2DAttributes options = window();
    options.groups = context.graph.type(x).shape[3];
    // Output channel m of input channel c is channel c * multiplier + m of both layouts.
    const Value filter =
        ops::reshape(context.graph, weight(context, kernel_), {size()[0], size()[1], 1, options.groups * multiplier_});
    return ops::conv2d(context.graph, x, filter, options);
  }

 private:
  std::int64_t multiplier_;
  VariablePtr kernel_;
};

class DepthwiseConv2D final : public Depthwise {
 public:
  static std::vector<ConfigField> fields() { return depthwise_fields({}); }
  DepthwiseConv2D(Config given, DeviceId device) : Depthwise(std::move(given), std::move(device)) {
    set_padding(padding_of(*this));
  }
  std::string default_name() const override { return "depthwise_conv2d"; }
  TensorType output_type(TensorTypes inputs) const override { return {depthwise_shape(inputs), output_dtype()}; }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    make_depthwise_kernel(factory, "kernel", inputs[0]);
    make_bias(factory, depthwise_shape(inputs)[2]);
  }
  Value apply(const CallContext& context, Values inputs) const override {
    return finish(context, convolve_depthwise(context, inputs[0]));
  }
};

class SeparableConv2D final : public Depthwise {
 public:
  static std::vector<ConfigField> fields() {
    return depthwise_fields(
        {{"filters", std::int64_t{0}, true}, {"pointwise_initializer", std::string("glorot_uniform")}});
  }
  SeparableConv2D(Config given, DeviceId device)
      : Depthwise(std::move(given), std::move(device)), filters_(config().integer_from("filters", 1)) {
    set_padding(padding_of(*this));
    initializer("pointwise_initializer");
  }
  std::string default_name() const override { return "separable_conv2d"; }
  TensorType output_type(TensorTypes inputs) const override {
    Shape shape = depthwise_shape(inputs);
    shape[2] = filters_;
    return {std::move(shape), output_dtype()};
  }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    make_depthwise_kernel(factory, "depthwise_kernel", inputs[0]);
    pointwise_ = make_variable(factory, "pointwise_kernel", {1, 1, depthwise_shape(inputs)[2], filters_},
                               initializer("pointwise_initializer"));
    make_bias(factory, filters_);
  }
  Value apply(const CallContext& context, Values inputs) const override {
    const Value between = convolve_depthwise(context, inputs[0]);
    return finish(context, ops::conv2d(context.graph, between, weight(context, pointwise_)));
  }

  std::int64_t filters_;
  VariablePtr pointwise_;
};

/// `spatial`: 1 for sequences, which are images of one row, 2 for images.
template <int spatial>
class ConvTranspose final : public SlidingLayer {
 public:
  static std::vector<ConfigField> fields() {
    return SlidingLayer::fields(
        {{"filters", std::int64_t{0}, true}, {"kernel_initializer", std::string("glorot_uniform")}}, spatial);
  }
  ConvTranspose(Config given, DeviceId device)
      : SlidingLayer(std::move(given), std::move(device), spatial), filters_(config().integer_from("filters", 1)) {
    set_padding(padding_of(*this));
    initializer("kernel_initializer");
  }
  std::string default_name() const override { return spatial == 1 ? "conv1d_transpose" : "conv2d_transpose"; }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, spatial + 1, sliding_form(spatial));
    if (kernel_ && kernel_->type.shape.back() != input.shape.back()) {
      fail(fmt::format("was built for {} channels, got {}", kernel_->type.shape.back(), to_string(input)));
    }
    const Shape result = result_shape(as_image(input, spatial).shape);
    return {example_shape({result[0], result[1]}, filters_, spatial), output_dtype()};
  }

 private:
  /// The smallest image of which a convolution makes the input's extents, but at least stride times the input.
  Shape result_shape(const Shape& input) const {
    Shape shape{0, 0, filters_};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t covered = (size()[axis] - 1) * window().dilations[axis] + 1;
      shape[axis] = scaled_extent(input[axis], window().strides[axis]);
      if (window().padding == Padding::valid) {
        shape[axis] += std::max<std::int64_t>(covered - window().strides[axis], 0);
      }
    }
    return shape;
  }
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    Shape shape = example_shape(size(), filters_, spatial);
    shape.push_back(inputs[0].shape.back());
    kernel_ = make_variable(factory, "kernel", shape, initializer("kernel_initializer"));
    make_bias(factory, filters_);
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value x = as_images(graph, inputs[0], spatial);
    const Shape image = graph.type(x).shape;
    Shape shape = result_shape(Shape(image.begin() + 1, image.end()));
    shape.insert(shape.begin(), image[0]);
    const Value kernel = ops::reshape(graph, weight(context, kernel_), {size()[0], size()[1], filters_, image.back()});
    const Value y = ops::conv2d_input_gradient(graph, x, kernel, window(), std::move(shape));
    return finish(context, from_images(graph, y, spatial));
  }

  std::int64_t filters_;
  VariablePtr kernel_;
};

template <int spatial>
LayerKind transpose_kind(const char* name) {
  return {name,
          {"filters", "kernel_size", "strides", "padding"},
          ConvTranspose<spatial>::fields(),
          &construct_layer<ConvTranspose<spatial>>};
}

}  // namespace

LayerKind conv1d_transpose() {
  return transpose_kind<1>("Conv1DTranspose");
}
LayerKind conv2d_transpose() {
  return transpose_kind<2>("Conv2DTranspose");
}
LayerKind depthwise_conv2d() {
  return {"DepthwiseConv2D",
          {"kernel_size", "strides", "padding"},
          DepthwiseConv2D::fields(),
          &construct_layer<DepthwiseConv2D>};
}
LayerKind separable_conv2d() {
  return {"SeparableConv2D",
          {"filters", "kernel_size", "strides", "padding"},
          SeparableConv2D::fields(),
          &construct_layer<SeparableConv2D>};
}

}  // namespace gpubench::nn
