#include "core/ops/image_scale.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/ops/cast.h"
#include "core/ops/check.h"
#include "core/ops/elementwise.h"

namespace gpubench::ops {
namespace {

constexpr float brightest_byte = 255;

/// A number, or one per channel of `images`.
Value per_channel(Graph& graph, const TensorType& images, std::string_view what, std::span<const float> numbers) {
  const auto count = static_cast<std::int64_t>(numbers.size());
  if (images.rank() == 0 || (count != 1 && count != images.shape.back())) {
    refuse("normalize",
           fmt::format("takes one {} or one for each channel, got {} for {}", what, count, to_string(images)));
  }
  const Value values = graph.constant(HostTensor::of<float>(count == 1 ? Shape{} : Shape{count}, numbers));
  return cast(graph, values, images.dtype);
}

}  // namespace

Value normalize_images(Graph& graph, Value images, std::span<const float> mean, std::span<const float> stddev) {
  const auto is_positive = [](float deviation) { return deviation > 0; };
  if (!std::ranges::all_of(stddev, is_positive)) refuse("normalize", "standard deviations must be positive");
  if (!is_floating(graph.type(images).dtype)) images = cast(graph, images, Dtype::f32);
  const TensorType type = graph.type(images);
  const Value centered = sub(graph, images, per_channel(graph, type, "mean", mean));
  return div(graph, centered, per_channel(graph, type, "standard deviation", stddev));
}

Value convert_images(Graph& graph, Value images, Dtype dtype) {
  const TensorType type = graph.type(images);
  const auto is_brightness = [](Dtype of) { return is_floating(of) || of == Dtype::u8; };
  if (!is_brightness(type.dtype) || !is_brightness(dtype)) {
    refuse("cast", fmt::format("converts images of uint8 and of floating types, got {} to {}", to_string(type),
                               to_string(dtype)));
  }
  if (type.dtype == dtype) return images;
  if (is_floating(type.dtype) && is_floating(dtype)) return cast(graph, images, dtype);
  const Value pixels = cast(graph, images, Dtype::f32);
  if (is_floating(dtype)) return cast(graph, mul(graph, pixels, graph.constant(1 / brightest_byte)), dtype);
  // Half a step more, as the cast drops what is behind the point.
  const Value scaled = mul(graph, pixels, graph.constant(brightest_byte + 0.5F));
  const Value positive = maximum(graph, scaled, graph.constant(0.0F));
  return cast(graph, minimum(graph, positive, graph.constant(brightest_byte)), dtype);
}

}  // namespace gpubench::ops
