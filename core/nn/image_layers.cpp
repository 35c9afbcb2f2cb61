// Layers that change images [height, width, channels] without learning: larger images, other units.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

Value between(Graph& graph, Value x, std::size_t axis, std::int64_t first, std::int64_t last) {
  SliceRange range{Shape(axis + 1, 0), Shape(axis + 1, SliceRange::to_end), {}};
  range.begin[axis] = first;
  range.end[axis] = last;
  return ops::slice(graph, x, std::move(range));
}

/// `axis` of x `size` times as long, by linear interpolation between the centres of neighbours. Each element becomes
/// `size` sums of itself and both neighbours, whose weights are the same everywhere; the edges are their own
/// neighbours.
Value stretched(Graph& graph, Value x, std::size_t axis, std::int64_t size) {
  if (size == 1) return x;
  const TensorType type = graph.type(x);
  const std::int64_t extent = type.shape[axis], along = static_cast<std::int64_t>(axis);
  Value before = x, after = x;
  if (extent > 1) {
    const std::array lower{between(graph, x, axis, 0, 1), between(graph, x, axis, 0, extent - 1)};
    const std::array upper{between(graph, x, axis, 1, extent), between(graph, x, axis, extent - 1, extent)};
    before = ops::concat(graph, lower, along);
    after = ops::concat(graph, upper, along);
  }
  Shape weights_shape(type.shape.size() - axis, 1), apart = type.shape, result = type.shape;
  weights_shape[0] = size;
  apart.insert(apart.begin() + along + 1, 1);
  result[axis] *= size;
  const auto weighted = [&](Value image, double (*weight)(double place)) {
    HostTensor weights(TensorType{weights_shape, Dtype::f32});
    for (std::int64_t i = 0; i < size; ++i) {
      const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(size) - 0.5;
      weights.values<float>()[static_cast<std::size_t>(i)] = static_cast<float>(weight(place));
    }
    const Value factors = ops::cast(graph, graph.constant(weights), type.dtype);
    return ops::mul(graph, ops::reshape(graph, image, apart), factors);
  };
  const Value own = weighted(x, [](double place) { return 1 - std::abs(place); });
  const Value lower = weighted(before, [](double place) { return std::max(-place, 0.0); });
  const Value upper = weighted(after, [](double place) { return std::max(place, 0.0); });
  return ops::reshape(graph, ops::add(graph, ops::add(graph, own, lower), upper), result);
}

/// Repeats rows and columns, or interpolates between them.
class UpSampling2D final : public Layer {
 public:
  UpSampling2D(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        size_(sliding_extents(*this, "size", 2)),
        bilinear_(config().text("interpolation") == "bilinear") {
    if (!bilinear_ && config().text("interpolation") != "nearest") {
      throw Error(fmt::format("UpSampling2D: interpolation must be 'nearest' or 'bilinear', got '{}'",
                              config().text("interpolation")));
    }
  }
  std::string default_name() const override { return "up_sampling2d"; }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, 3, sliding_form(2));
    for (std::size_t axis = 0; axis < 2; ++axis) output.shape[axis] = scaled_extent(output.shape[axis], size_[axis]);
    return output;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Shape from = graph.type(inputs[0]).shape;
    if (bilinear_) return stretched(graph, stretched(graph, inputs[0], 1, size_[0]), 2, size_[1]);
    const Value rows = ops::reshape(graph, inputs[0], {from[0], from[1], 1, from[2], 1, from[3]});
    const Value repeated = ops::broadcast_to(graph, rows, {from[0], from[1], size_[0], from[2], size_[1], from[3]});
    return ops::reshape(graph, repeated, {from[0], from[1] * size_[0], from[2] * size_[1], from[3]});
  }

  Extents size_;
  bool bilinear_;
};

/// Repeats the steps of a sequence.
class UpSampling1D final : public Layer {
 public:
  UpSampling1D(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), size_(bounded_option(*this, "size")) {}
  std::string default_name() const override { return "up_sampling1d"; }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, 2, sliding_form(1));
    output.shape[0] = scaled_extent(output.shape[0], size_);
    return output;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Shape from = graph.type(inputs[0]).shape;
    const Value apart = ops::reshape(graph, inputs[0], {from[0], from[1], 1, from[2]});
    const Value repeated = ops::broadcast_to(graph, apart, {from[0], from[1], size_, from[2]});
    return ops::reshape(graph, repeated, {from[0], from[1] * size_, from[2]});
  }

  std::int64_t size_;
};

/// x * scale + offset; integers are cast to the type of computation first.
class Rescaling final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "rescaling"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    if (inputs[0].dtype == Dtype::bytes) fail(fmt::format("expects numbers, got {}", to_string(inputs[0])));
    return {inputs[0].shape, policy().compute};
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value x = ops::cast(graph, inputs[0], policy().compute);
    const auto number = [&](const char* option) {
      return ops::scalar(graph, config().number(option), policy().compute);
    };
    const Value scaled = ops::mul(graph, x, number("scale"));
    return config().number("offset") == 0 ? scaled : ops::add(graph, scaled, number("offset"));
  }
};

/// (x - mean) / sqrt(variance) of each channel, by fixed statistics of the data, which are variables.
class NormalizationLayer final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "normalization"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  Channels channels() const override { return Channels::kept; }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, -1, "[..., channels]");
    if (input.rank() < 1) fail(fmt::format("expects [..., channels] per example, got {}", to_string(input)));
    if (mean_ && mean_->type.shape[0] != input.shape.back()) {
      fail(fmt::format("was built for {} channels, got {}", mean_->type.shape[0], to_string(input)));
    }
    return input;
  }

 private:
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    const auto statistic = [&](const char* name) {
      const Initializer constant{.kind = Initializer::Kind::constant, .first = config().number(name)};
      return make_variable(factory, name, {inputs[0].shape.back()}, constant, false);
    };
    mean_ = statistic("mean");
    variance_ = statistic("variance");
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    constexpr double least_deviation = 1e-7;  // of Keras
    const Value deviation = ops::maximum(graph, ops::sqrt(graph, weight(context, variance_)),
                                         ops::scalar(graph, least_deviation, policy().compute));
    return ops::div(graph, ops::sub(graph, inputs[0], weight(context, mean_)), deviation);
  }

  VariablePtr mean_, variance_;
};

}  // namespace

LayerKind normalization() {
  return {"Normalization", {}, {{"mean", 0.0}, {"variance", 1.0}}, &construct_layer<NormalizationLayer>};
}
LayerKind rescaling() {
  return {"Rescaling", {"scale", "offset"}, {{"scale", 1.0, true}, {"offset", 0.0}}, &construct_layer<Rescaling>};
}
LayerKind up_sampling1d() {
  return {"UpSampling1D", {"size"}, {{"size", std::int64_t{2}}}, &construct_layer<UpSampling1D>};
}
LayerKind up_sampling2d() {
  return {"UpSampling2D",
          {"size", "interpolation"},
          {{"size", Shape{2, 2}}, {"interpolation", std::string("nearest")}},
          &construct_layer<UpSampling2D>};
}

}  // namespace gpubench::nn
