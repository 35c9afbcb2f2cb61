// Layers that change the borders of images [height, width, channels] and sequences [steps, channels]: zeros around
// them, or less of them. A sequence is an image of one row.
#include <algorithm>
#include <cstdint>
#include <fmt/format.h>
#include <vector>

#include "core/base/error.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// How many rows or columns of a dimension, in front and behind.
struct Border {
  std::int64_t first, last;
};

/// Of each dimension. `option`: of images one number, one for each dimension, or one for each side; of sequences one,
/// or one for each end.
std::vector<Border> borders_of(const Config& config, const char* option, int spatial) {
  const Shape& sides = config.shape(option);
  const bool outside = std::ranges::any_of(sides, [](std::int64_t side) { return side < 0 || side > INT32_MAX; });
  if (outside || (sides.size() != 1 && sides.size() != 2 && (sides.size() != 4 || spatial == 1))) {
    throw Error(fmt::format("{}: {} must be one integer{}, each 0 to {}, got {}", config.owner(), option,
                            spatial == 1 ? " or {first, last}" : ", {height, width} or {{top, bottom}, {left, right}}",
                            INT32_MAX, to_string(sides)));
  }
  if (spatial == 1) return {{sides.front(), sides.back()}};
  if (sides.size() == 4) return {{sides[0], sides[1]}, {sides[2], sides[3]}};
  return {{sides.front(), sides.front()}, {sides.back(), sides.back()}};
}

/// Zeros around the input, or less of it.
template <bool crops, int spatial>
class BorderLayer final : public Layer {
 public:
  BorderLayer(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        borders_(borders_of(config(), crops ? "cropping" : "padding", spatial)) {}
  std::string default_name() const override {
    return fmt::format("{}{}d", crops ? "cropping" : "zero_padding", spatial);
  }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, spatial + 1, sliding_form(spatial));
    for (std::size_t axis = 0; axis < spatial; ++axis) {
      std::int64_t& extent = output.shape[axis];
      const std::int64_t both = borders_[axis].first + borders_[axis].last;
      if (crops && both >= extent) {
        fail(fmt::format("crops {} of {} along axis {}, and nothing would be left of {}", both, extent, axis + 1,
                         to_string(inputs[0])));
      }
      extent += crops ? -both : both;
    }
    return output;
  }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    Shape before{0}, after{0};
    for (const Border& border : borders_) {
      before.push_back(border.first);
      after.push_back(border.last);
    }
    if constexpr (!crops) return ops::pad(context.graph, inputs[0], before, after);
    const Shape& shape = context.graph.type(inputs[0]).shape;
    SliceRange range{std::move(before), {SliceRange::to_end}, {}};
    for (std::size_t axis = 1; axis <= spatial; ++axis) range.end.push_back(shape[axis] - after[axis]);
    return ops::slice(context.graph, inputs[0], std::move(range));
  }

  const std::vector<Border> borders_;
};

}  // namespace

LayerKind cropping1d() {
  return {"Cropping1D", {"cropping"}, {{"cropping", Shape{1, 1}}}, &construct_layer<BorderLayer<true, 1>>};
}
LayerKind cropping2d() {
  return {"Cropping2D", {"cropping"}, {{"cropping", Shape{0, 0}}}, &construct_layer<BorderLayer<true, 2>>};
}
LayerKind zero_padding1d() {
  return {"ZeroPadding1D", {"padding"}, {{"padding", Shape{1}}}, &construct_layer<BorderLayer<false, 1>>};
}
LayerKind zero_padding2d() {
  return {"ZeroPadding2D", {"padding"}, {{"padding", Shape{1, 1}}}, &construct_layer<BorderLayer<false, 2>>};
}

}  // namespace gpubench::nn
