// Colours of images as tf.image changes them: computed in floating types, bytes from 0 to 1, with saturation on the way
// back. Random numbers are drawn for each image as core/ops/image.h says.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"
#include "core/ops/image.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"
#include "lua/api/tensor/image_graph.h"

namespace gpubench::lua {
namespace {

constexpr std::int64_t rgb_channels = 3;

void require_images(std::string_view what, const TensorType& images, std::optional<std::int64_t> channels = {}) {
  const bool is_image = images.rank() >= 3 && (is_floating(images.dtype) || images.dtype == Dtype::u8);
  if (is_image && images.shape.back() == channels.value_or(images.shape.back())) return;
  ops::refuse(what, fmt::format("takes images [..., height, width, {}] of a floating type or uint8, got {}",
                                channels ? std::to_string(*channels) : "channels", to_string(images)));
}

/// One number for all images, or [batch, 1, 1, 1].
void require_amount(std::string_view what, const TensorType& amount, const TensorType& images) {
  bool fits = amount.rank() == 0 || amount.rank() == images.rank();
  for (std::size_t i = 0; fits && i < amount.shape.size(); ++i) {
    fits = amount.shape[i] == 1 || (i + 3 < amount.shape.size() && amount.shape[i] == images.shape[i]);
  }
  if (fits) return;
  ops::refuse(what, fmt::format("takes one number, or one for each image as [batch, 1, 1, 1], got {} for {}",
                                to_string(amount), to_string(images)));
}

/// `change` of the images in a floating type, in their own type again.
template <class Change>
GraphValue in_floats(Graph& graph, GraphValue images, const Change& change) {
  const Dtype dtype = graph.type(images).dtype;
  const GraphValue floats = is_floating(dtype) ? images : ops::convert_images(graph, images, Dtype::f32);
  return ops::convert_images(graph, change(floats), dtype);
}

GraphValue number_like(Graph& graph, GraphValue x, double value) {
  return ops::scalar(graph, value, graph.type(x).dtype);
}

/// Zeros [..., 1, 1, 1], one for each image.
GraphValue zero_for_each(Graph& graph, GraphValue images) {
  const std::size_t rank = graph.type(images).shape.size();
  SliceRange corner{Shape(rank, 0), Shape(rank, SliceRange::to_end), {}};
  std::fill(corner.end.end() - 3, corner.end.end(), 1);
  const GraphValue pixel = ops::slice(graph, images, std::move(corner));
  // Of any number: it may be infinite or none, so that it is not multiplied.
  return ops::cast(graph, ops::less(graph, pixel, pixel), Dtype::f32);
}

/// Numbers of [-half, half), one for each image.
GraphValue draw_for_each(Graph& graph, GraphValue images, GraphValue step, double half, std::uint64_t seed) {
  return graph.apply(std::make_shared<const RandomBrightness>(half, seed), {zero_for_each(graph, images), step});
}

GraphValue contrasted(Graph& graph, GraphValue x, GraphValue factor) {
  const GraphValue mean = ops::reduce_mean(graph, x, {-3, -2}, true);
  return ops::add(graph, ops::mul(graph, ops::sub(graph, x, mean), factor), mean);
}

/// Of the colours of each pixel, [..., 1].
struct PixelRange {
  GraphValue red, green, blue, high, range;
  GraphValue divisor;  ///< the range, 1 of grey pixels
};

PixelRange range_of(Graph& graph, GraphValue rgb) {
  const auto channel = [&](std::int64_t i) {
    const std::size_t rank = graph.type(rgb).shape.size();
    SliceRange one{Shape(rank, 0), Shape(rank, SliceRange::to_end), {}};
    one.begin.back() = i;
    one.end.back() = i + 1;
    return ops::slice(graph, rgb, std::move(one));
  };
  const GraphValue red = channel(0), green = channel(1), blue = channel(2);
  const GraphValue high = ops::maximum(graph, red, ops::maximum(graph, green, blue));
  const GraphValue range = ops::sub(graph, high, ops::minimum(graph, red, ops::minimum(graph, green, blue)));
  const GraphValue is_grey = ops::equal(graph, range, number_like(graph, range, 0));
  return {red, green, blue, high, range, ops::select(graph, is_grey, number_like(graph, range, 1), range)};
}

/// Turns the circle of colours by `amount`. Hues count in sixths of the circle, from red.
GraphValue turned(Graph& graph, GraphValue rgb, GraphValue amount) {
  const PixelRange of = range_of(graph, rgb);
  const auto number = [&](double value) { return number_like(graph, rgb, value); };
  const auto between = [&](GraphValue a, GraphValue b, double from) {
    const GraphValue share = ops::div(graph, ops::sub(graph, a, b), of.divisor);
    return from == 0 ? share : ops::add(graph, share, number(from));
  };
  const GraphValue not_red = ops::select(graph, ops::equal(graph, of.high, of.green), between(of.blue, of.red, 2),
                                         between(of.red, of.green, 4));
  GraphValue hue = ops::select(graph, ops::equal(graph, of.high, of.red), between(of.green, of.blue, 0), not_red);
  hue = ops::add(graph, hue, ops::mul(graph, amount, number(6)));
  // A channel is the highest, less a share of the range: none around its own colour, all on the other half.
  const GraphValue offsets = graph.constant(HostTensor::of<float>({rgb_channels}, std::array{5.0F, 3.0F, 1.0F}));
  const GraphValue at =
      ops::floor_mod(graph, ops::add(graph, hue, ops::cast(graph, offsets, graph.type(rgb).dtype)), number(6));
  const GraphValue slope = ops::minimum(graph, at, ops::sub(graph, number(4), at));
  const GraphValue share = ops::minimum(graph, ops::maximum(graph, slope, number(0)), number(1));
  return ops::sub(graph, of.high, ops::mul(graph, of.range, share));
}

/// Every channel keeps its share of the range, which becomes `factor` times as large, but not larger than the highest.
GraphValue saturated_by(Graph& graph, GraphValue rgb, GraphValue factor) {
  const PixelRange of = range_of(graph, rgb);
  const GraphValue zero = number_like(graph, rgb, 0);
  const GraphValue most = ops::div(graph, of.high, of.divisor);
  const GraphValue ratio = ops::minimum(graph, ops::maximum(graph, factor, zero), most);
  const GraphValue kept = ops::select(graph, ops::greater(graph, of.high, zero), ratio, zero);
  return ops::sub(graph, of.high, ops::mul(graph, ops::sub(graph, of.high, rgb), kept));
}

using ChangeBy = GraphValue (*)(Graph&, GraphValue images, GraphValue amount);

GraphValue brightened(Graph& graph, GraphValue x, GraphValue delta) {
  return ops::add(graph, x, delta);
}

template <ChangeBy Change>
Tensor adjusted(lua_State* L, std::string_view what, const Tensor& images, const Tensor& amount,
                std::optional<std::int64_t> channels = {}) {
  require_images(what, images.type(), channels);
  require_amount(what, amount.type(), images.type());
  return apply_built(L, {images, amount}, [](Graph& graph, const auto& inputs) {
    return in_floats(graph, inputs[0],
                     [&](GraphValue x) { return Change(graph, x, ops::cast(graph, inputs[1], graph.type(x).dtype)); });
  });
}

Tensor adjust_brightness(lua_State* L, const Tensor& images, const TensorLike& delta) {
  return adjusted<&brightened>(L, "adjust_brightness", images, delta.tensor);
}
Tensor adjust_contrast(lua_State* L, const Tensor& images, const TensorLike& contrast_factor) {
  return adjusted<&contrasted>(L, "adjust_contrast", images, contrast_factor.tensor);
}
Tensor adjust_hue(lua_State* L, const Tensor& images, const TensorLike& delta) {
  return adjusted<&turned>(L, "adjust_hue", images, delta.tensor, rgb_channels);
}
Tensor adjust_saturation(lua_State* L, const Tensor& images, const TensorLike& saturation_factor) {
  return adjusted<&saturated_by>(L, "adjust_saturation", images, saturation_factor.tensor, rgb_channels);
}

Tensor adjust_gamma(lua_State* L, const Tensor& images, std::optional<double> gamma, std::optional<double> gain) {
  require_images("adjust_gamma", images.type());
  if (!(gamma.value_or(1) >= 0)) {
    ops::refuse("adjust_gamma", fmt::format("gamma must not be negative, got {}", *gamma));
  }
  return apply_built(L, {images}, [&](Graph& graph, const auto& inputs) {
    return in_floats(graph, inputs[0], [&](GraphValue x) {
      const GraphValue power = ops::pow(graph, x, number_like(graph, x, gamma.value_or(1)));
      return ops::mul(graph, power, number_like(graph, x, gain.value_or(1)));
    });
  });
}

/// `Change` by `centre` and a number of [-half, half) for each image.
template <ChangeBy Change>
Tensor changed_at_random(lua_State* L, std::string_view what, const Tensor& images, double centre, double half,
                         const RandomImageOptions& options) {
  require_images(what, images.type(), rgb_channels);
  const std::uint64_t seed = options.seed_in(L);
  return apply_built(L, {images, options.step_in(L)}, [&](Graph& graph, const auto& inputs) {
    return in_floats(graph, inputs[0], [&](GraphValue x) {
      const GraphValue drawn = draw_for_each(graph, x, inputs[1], half, seed);
      const GraphValue amount = ops::add(graph, drawn, graph.constant(static_cast<float>(centre)));
      return Change(graph, x, ops::cast(graph, amount, graph.type(x).dtype));
    });
  });
}

Tensor random_hue(lua_State* L, const Tensor& images, double max_delta, const RandomImageOptions& options) {
  constexpr double most = 0.5;
  if (!(max_delta >= 0 && max_delta <= most)) {
    ops::refuse("random_hue", fmt::format("max_delta must be 0 to {}, got {}", most, max_delta));
  }
  return changed_at_random<&turned>(L, "random_hue", images, 0, max_delta, options);
}

Tensor random_saturation(lua_State* L, const Tensor& images, double lower, double upper,
                         const RandomImageOptions& options) {
  if (!(lower >= 0 && upper >= lower)) {
    ops::refuse("random_saturation",
                fmt::format("the factors must be 0 <= lower <= upper, got {} and {}", lower, upper));
  }
  return changed_at_random<&saturated_by>(L, "random_saturation", images, (lower + upper) / 2, (upper - lower) / 2,
                                          options);
}

/// Mirrors about the middle row, where a coin decides so.
Tensor random_flip_up_down(lua_State* L, const Tensor& images, const RandomImageOptions& options) {
  if (images.type().rank() < 3) {
    ops::refuse("random_flip_up_down", fmt::format("takes images [batch, height, width, channels] or one [height, "
                                                   "width, channels], got {}",
                                                   to_string(images.type())));
  }
  const std::uint64_t seed = options.seed_in(L);
  return apply_built(L, {images, options.step_in(L)}, [seed](Graph& graph, const auto& inputs) {
    const GraphValue coin = draw_for_each(graph, inputs[0], inputs[1], 1, seed);
    const GraphValue flipped = graph.apply(std::make_shared<const Reverse>(std::vector<std::int64_t>{-3}), {inputs[0]});
    return ops::select(graph, ops::less(graph, coin, graph.constant(0.0F)), flipped, inputs[0]);
  });
}

Tensor rgb_to_grayscale(lua_State* L, const Tensor& images) {
  require_images("rgb_to_grayscale", images.type(), rgb_channels);
  return apply_built(L, {images}, [](Graph& graph, const auto& inputs) {
    return in_floats(graph, inputs[0], [&](GraphValue x) {
      const std::array luminance{0.2989F, 0.587F, 0.114F};
      const GraphValue weights = graph.constant(HostTensor::of<float>({rgb_channels}, luminance));
      return ops::reduce_sum(graph, ops::mul(graph, x, ops::cast(graph, weights, graph.type(x).dtype)), {-1}, true);
    });
  });
}

Tensor grayscale_to_rgb(lua_State* L, const Tensor& images) {
  const TensorType& type = images.type();
  if (type.rank() < 3 || type.shape.back() != 1) {
    ops::refuse("grayscale_to_rgb", fmt::format("takes images of one channel, got {}", to_string(type)));
  }
  return apply_built(L, {images}, [](Graph& graph, const auto& inputs) {
    return ops::concat(graph, std::array{inputs[0], inputs[0], inputs[0]}, -1);
  });
}

/// The deviation is at least that of one pixel by 1, so that images of one colour become zeros.
Tensor per_image_standardization(lua_State* L, const Tensor& images) {
  require_images("per_image_standardization", images.type());
  const ImageExtents of = image_extents(images.type().shape);
  const auto numbers = static_cast<double>(of.height * of.width * of.channels);
  return apply_built(L, {images}, [numbers](Graph& graph, const auto& inputs) {
    const std::vector<std::int64_t> image{-3, -2, -1};
    const GraphValue x = ops::cast(graph, inputs[0], Dtype::f32);
    const GraphValue centered = ops::sub(graph, x, ops::reduce_mean(graph, x, image, true));
    const GraphValue variance = ops::reduce_mean(graph, ops::square(graph, centered), image, true);
    const GraphValue least = ops::maximum(graph, variance, number_like(graph, x, 1 / numbers));
    return ops::div(graph, centered, ops::sqrt(graph, least));
  });
}

}  // namespace

void add_image_colours(const Module& image) {
  image.function<&adjust_brightness>("adjust_brightness")
      .function<&adjust_contrast>("adjust_contrast")
      .function<&adjust_gamma>("adjust_gamma")
      .function<&adjust_hue>("adjust_hue")
      .function<&adjust_saturation>("adjust_saturation")
      .function<&random_hue>("random_hue")
      .function<&random_saturation>("random_saturation")
      .function<&random_flip_up_down>("random_flip_up_down")
      .function<&rgb_to_grayscale>("rgb_to_grayscale")
      .function<&grayscale_to_rgb>("grayscale_to_rgb")
      .function<&per_image_standardization>("per_image_standardization");
}

}  // namespace gpubench::lua
