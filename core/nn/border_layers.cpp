// Layers that change the borders of images [height, width, channels] and sequences [steps, channels]: zeros around
// them, or less of them. A sequence is an image of one row.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// Rows and columns on each side.
struct Borders {
  Extents before{}, after{};
};

/// `option`: of images one number, one for each dimension, or one for each side; of sequences one, or one for each end.
Borders borders_of(const Config& config, const char* option, int spatial) {
  const Shape& sides = config.shape(option);
  const bool outside = std::ranges::any_of(sides, [](std::int64_t side) { return side < 0 || side > INT32_MAX; });
  if (outside || (sides.size() != 1 && sides.size() != 2 && (sides.size() != 4 || spatial == 1))) {
    throw Error(fmt::format("{}: {} must be one integer{}, each 0 to {}, got {}", config.owner(), option,
                            spatial == 1 ? " or {first, last}" : ", {height, width} or {{top, bottom}, {left, right}}",
                            INT32_MAX, to_string(sides)));
  }
  if (spatial == 1) return {{0, sides.front()}, {0, sides.back()}};
  if (sides.size() == 4) return {{sides[0], sides[2]}, {sides[1], sides[3]}};
  return {{sides.front(), sides.back()}, {sides.front(), sides.back()}};
}

template <int spatial>
class ZeroPadding final : public Layer {
 public:
  ZeroPadding(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), borders_(borders_of(config(), "padding", spatial)) {}
  std::string default_name() const override { return spatial == 1 ? "zero_padding1d" : "zero_padding2d"; }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, spatial + 1, sliding_form(spatial));
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      output.shape[axis] += borders_.before[axis + 2 - spatial] + borders_.after[axis + 2 - spatial];
    }
    return output;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    const auto sides = [](const Extents& side) {
      return spatial == 1 ? Shape{0, side[1]} : Shape{0, side[0], side[1]};
    };
    return ops::pad(context.graph, inputs[0], sides(borders_.before), sides(borders_.after));
  }

  Borders borders_;
};

template <int spatial>
class Cropping final : public Layer {
 public:
  Cropping(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), borders_(borders_of(config(), "cropping", spatial)) {}
  std::string default_name() const override { return spatial == 1 ? "cropping1d" : "cropping2d"; }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, spatial + 1, sliding_form(spatial));
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      const std::int64_t cut = borders_.before[axis + 2 - spatial] + borders_.after[axis + 2 - spatial];
      if (cut >= output.shape[axis]) {
        fail(fmt::format("crops {} of {} along axis {}, and nothing would be left of {}", cut, output.shape[axis],
                         axis + 1, to_string(inputs[0])));
      }
      output.shape[axis] -= cut;
    }
    return output;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    const Shape& shape = context.graph.type(inputs[0]).shape;
    SliceRange range{{0}, {SliceRange::to_end}, {}};
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      range.begin.push_back(borders_.before[axis + 2 - spatial]);
      range.end.push_back(shape[axis + 1] - borders_.after[axis + 2 - spatial]);
    }
    return ops::slice(context.graph, inputs[0], std::move(range));
  }

  Borders borders_;
};

}  // namespace

LayerKind cropping1d() {
  return {"Cropping1D", {"cropping"}, {{"cropping", Shape{1, 1}}}, &construct_layer<Cropping<1>>};
}
LayerKind cropping2d() {
  return {"Cropping2D", {"cropping"}, {{"cropping", Shape{0, 0}}}, &construct_layer<Cropping<2>>};
}
LayerKind zero_padding1d() {
  return {"ZeroPadding1D", {"padding"}, {{"padding", Shape{1}}}, &construct_layer<ZeroPadding<1>>};
}
LayerKind zero_padding2d() {
  return {"ZeroPadding2D", {"padding"}, {{"padding", Shape{1, 1}}}, &construct_layer<ZeroPadding<2>>};
}

}  // namespace gpubench::nn
