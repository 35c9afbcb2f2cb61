#include "core/nn/sliding.h"

#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/ops/bias.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {

std::string_view sliding_form(int spatial) {
  return spatial == 1 ? "[steps, channels]" : "[height, width, channels]";
}

std::int64_t bounded_option(const Layer& layer, const std::string& name) {
  const std::int64_t given = layer.config().integer_from(name, 1);
  if (given > INT32_MAX) {
    throw Error(fmt::format("{}: {} must be at most {}, got {}", layer.kind(), name, INT32_MAX, given));
  }
  return given;
}

Extents sliding_extents(const Layer& layer, std::string_view name, int spatial) {
  const Shape& given = layer.config().shape(name);
  if (spatial == 1 && (given.size() != 1 || given[0] < 1)) {
    throw Error(fmt::format("{}: {} must be one positive integer, got {}", layer.kind(), name, to_string(given)));
  }
  const Extents extents = spatial == 1 ? Extents{1, given[0]} : layer.config().pair(name);
  if (std::max(extents[0], extents[1]) > INT32_MAX) {
    throw Error(fmt::format("{}: {} must be at most {}, got {}", layer.kind(), name, INT32_MAX, to_string(given)));
  }
  return extents;
}

Padding padding_of(const Layer& layer) {
  const std::string& padding = layer.config().text("padding");
  if (padding != "same" && padding != "valid") {
    layer.fail(fmt::format("padding must be 'same' or 'valid', got '{}'", padding));
  }
  return parse_padding(padding);
}

TensorType as_image(const TensorType& example, int spatial) {
  if (spatial == 2) return example;
  return {{1, example.shape[0], example.shape[1]}, example.dtype};
}

Value as_images(Graph& graph, Value x, int spatial) {
  Shape shape = graph.type(x).shape;
  if (spatial == 1) shape.insert(shape.begin() + 1, 1);
  return ops::reshape(graph, x, shape);
}

Value from_images(Graph& graph, Value x, int spatial) {
  Shape shape = graph.type(x).shape;
  if (spatial == 1) shape.erase(shape.begin() + 1);
  return ops::reshape(graph, x, shape);
}

Shape example_shape(const Extents& extents, std::int64_t channels, int spatial) {
  if (spatial == 1) return {extents[1], channels};
  return {extents[0], extents[1], channels};
}

Extents count_windows(const Layer& layer, const TensorType& image, const Extents& size,
                      const Conv2DAttributes& window) {
  Extents counts{};
  for (std::size_t axis = 0; axis < counts.size(); ++axis) {
    const std::int64_t covered = (size[axis] - 1) * window.dilations[axis] + 1;
    if (window.padding == Padding::valid && covered > image.shape[axis]) {
      const std::string spread =
          window.dilations == Extents{1, 1} ? "" : fmt::format(" with dilation_rate {}", to_string(window.dilations));
      layer.fail(fmt::format("a window of {}{} does not fit into {}; use padding = 'same' or a smaller window",
                             to_string(size), spread, to_string(image)));
    }
    counts[axis] =
        slide(layer.kind(), image.shape[axis], size[axis], window.strides[axis], window.dilations[axis], window.padding)
            .outputs;
  }
  return counts;
}

std::vector<ConfigField> SlidingLayer::fields(std::vector<ConfigField> own, int spatial) {
  const Shape ones(static_cast<std::size_t>(spatial), 1);
  own.insert(own.end(), {{"kernel_size", Shape{}, true},
                         {"strides", ones},
                         {"padding", std::string("valid")},
                         {"dilation_rate", ones},
                         {"activation", std::string(), false, true},
                         {"use_bias", true},
                         {"bias_initializer", std::string("zeros")}});
  return own;
}

SlidingLayer::SlidingLayer(Config given, DeviceId device, int spatial)
    : Layer(std::move(given), std::move(device)),
      size_(sliding_extents(*this, "kernel_size", spatial)),
      activation_(*this) {
  window_.strides = sliding_extents(*this, "strides", spatial);
  window_.dilations = sliding_extents(*this, "dilation_rate", spatial);
  parse_initializer(config().text("bias_initializer"));
}

Dtype SlidingLayer::output_dtype() const {
  return activation_.output_dtype();
}

void SlidingLayer::make_bias(VariableFactory& factory, std::int64_t channels) {
  if (config().flag("use_bias")) bias_ = make_variable(factory, "bias", {channels}, initializer("bias_initializer"));
}

Value SlidingLayer::finish(const CallContext& context, Value y) const {
  if (bias_) y = ops::bias_add(context.graph, y, weight(context, bias_));
  return activation_.apply(context, y);
}

}  // namespace gpubench::nn
