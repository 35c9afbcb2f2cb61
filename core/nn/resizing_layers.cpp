// Resizing, and RandomCrop, which in inference resizes too: images [height, width, channels] of another size.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/image.h"
#include "core/ops/resize.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// The options height and width of a layer, and what brings images [batch, height, width, channels] to them.
class TargetSize {
 public:
  explicit TargetSize(const Layer& layer)
      : layer_(layer), size_{bounded_option(layer, "height"), bounded_option(layer, "width")} {}
  const Extents& size() const { return size_; }

  /// Takes images of any numbers.
  TensorType output_type(TensorTypes inputs) const {
    if (inputs.size() != 1) layer_.fail(fmt::format("takes one input, got {}", inputs.size()));
    const TensorType& input = inputs[0];
    if (input.rank() != 3 || input.dtype == Dtype::bytes || input.elements() == 0) {
      layer_.fail(fmt::format("expects {} of numbers per example, got {}", sliding_form(2), to_string(input)));
    }
    return {{size_[0], size_[1], input.shape[2]}, layer_.policy().compute};
  }
  /// What each extent must be for the target's ratio of height and width, if the other one stays.
  Extents of_ratio(const Shape& images) const {
    const auto share = [](std::int64_t a, std::int64_t b, std::int64_t c) {
      return static_cast<std::int64_t>(static_cast<double>(a) * static_cast<double>(b) / static_cast<double>(c));
    };
    return {share(images[2], size_[0], size_[1]), share(images[1], size_[1], size_[0])};
  }
  /// The largest part in the middle that has the target's ratio.
  Value crop(Graph& graph, Value x) const {
    const Shape from = graph.type(x).shape;
    const Extents ratio = of_ratio(from);
    SliceRange range{{0}, {SliceRange::to_end}, {}};
    for (std::size_t axis = 0; axis < 2; ++axis) {
      const std::int64_t kept = std::clamp<std::int64_t>(ratio[axis], 1, from[axis + 1]);
      range.begin.push_back((from[axis + 1] - kept) / 2);
      range.end.push_back(range.begin.back() + kept);
    }
    return ops::slice(graph, x, std::move(range));
  }
  Value resize(Graph& graph, Value x, ResizeMethod method, bool antialias) const {
    const Shape from = graph.type(x).shape;
    if (from[1] == size_[0] && from[2] == size_[1]) return x;
    const Value y = ops::resize_images(graph, x, size_[0], size_[1], method, antialias);
    return ops::cast(graph, y, layer_.policy().compute);
  }

 private:
  const Layer& layer_;
  Extents size_;
};

class Resizing final : public Layer {
 public:
  Resizing(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        target_(*this),
        method_(parse_resize_method(config().text("interpolation"))) {
    if (!config().flag("crop_to_aspect_ratio") || !config().flag("pad_to_aspect_ratio")) return;
    throw Error("Resizing: only one of crop_to_aspect_ratio and pad_to_aspect_ratio can be given");
  }
  std::string default_name() const override { return "resizing"; }
  TensorType output_type(TensorTypes inputs) const override { return target_.output_type(inputs); }

 private:
  /// Between borders of fill_value for the target's ratio; of the same size on both sides, as in Keras, where an odd
  /// number of rows or columns lacks one.
  Value padded(Graph& graph, Value x) const {
    const Shape from = graph.type(x).shape;
    const Extents ratio = target_.of_ratio(from);
    Shape border{0};
    for (std::size_t axis = 0; axis < 2; ++axis)
      border.push_back(std::max<std::int64_t>(ratio[axis] - from[axis + 1], 0) / 2);
    const Value y = ops::pad(graph, x, border, border);
    if (config().number("fill_value") == 0) return y;
    const Value fill = ops::scalar(graph, config().number("fill_value"), graph.type(x).dtype);
    const Value inside = ops::broadcast_to(graph, fill, {1, from[1], from[2], 1});
    return ops::add(graph, y, ops::sub(graph, fill, ops::pad(graph, inside, border, border)));
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    Value x = ops::cast(graph, inputs[0], policy().compute);
    if (config().flag("crop_to_aspect_ratio")) x = target_.crop(graph, x);
    if (config().flag("pad_to_aspect_ratio")) x = padded(graph, x);
    return target_.resize(graph, x, method_, config().flag("antialias"));
  }

  TargetSize target_;
  ResizeMethod method_;
};

/// In training a part of each image at a random place of its own; otherwise, and of images that are smaller, the
/// largest part in the middle of the same ratio, resized.
class RandomCropLayer final : public SeededLayer {
 public:
  RandomCropLayer(Config given, DeviceId device) : SeededLayer(std::move(given), std::move(device)), target_(*this) {}
  std::string default_name() const override { return "random_crop"; }
  bool draws() const override { return true; }
  TensorType output_type(TensorTypes inputs) const override { return target_.output_type(inputs); }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value x = ops::cast(graph, inputs[0], policy().compute);
    const Shape& from = graph.type(x).shape;
    const auto [height, width] = target_.size();
    if (!context.training || from[1] < height || from[2] < width) {
      return target_.resize(graph, target_.crop(graph, x), ResizeMethod::bilinear, false);
    }
    const auto op = std::make_shared<const RandomCrop>(height, width, seed());
    return graph.apply(op, {x, first_number(*this, context)});
  }

  TargetSize target_;
};

std::vector<ConfigField> sized_fields(std::vector<ConfigField> own) {
  own.insert(own.begin(), {{"height", std::int64_t{0}, true}, {"width", std::int64_t{0}, true}});
  return own;
}

}  // namespace

LayerKind random_crop() {
  return {
      "RandomCrop", {"height", "width"}, sized_fields({{"seed", std::int64_t{-1}}}), &construct_layer<RandomCropLayer>};
}
LayerKind resizing() {
  return {"Resizing",
          {"height", "width", "interpolation", "crop_to_aspect_ratio"},
          sized_fields({{"interpolation", std::string("bilinear")},
                        {"crop_to_aspect_ratio", false},
                        {"pad_to_aspect_ratio", false},
                        {"fill_value", 0.0},
                        {"antialias", false}}),
          &construct_layer<Resizing>};
}

}  // namespace gpubench::nn
