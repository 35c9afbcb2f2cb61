// Resizing as products with one matrix for each dimension: all methods that have no kernel of their own, and the
// gradient of those that have one. Filters and borders are those of tf.image.resize.
#include "core/ops/resize.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <numbers>

#include "core/math/image.h"
#include "core/ops/cast.h"
#include "core/ops/matmul.h"
#include "core/ops/shape_ops.h"

namespace gpubench {
namespace {

/// What a pixel weighs at a distance, in pixels; nothing beyond the radius.
struct SampleFilter {
  float radius;
  float (*weight)(float distance);
};

float triangle_weight(float x) {
  return x < 1 ? 1 - x : 0;
}

/// Keys' cubic with a = -1/2.
float keys_weight(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-0.5F * x + 2.5F) * x - 4) * x + 2;
  return (1.5F * x - 2.5F) * x * x + 1;
}

/// Mitchell and Netravali's cubic with B = C = 1/3.
float mitchell_weight(float x) {
  if (x >= 2) return 0;
  if (x >= 1) return ((-7.0F / 18 * x + 2) * x - 10.0F / 3) * x + 16.0F / 9;
  return (7.0F / 6 * x - 2) * x * x + 8.0F / 9;
}

template <int radius>
float lanczos_weight(float x) {
  constexpr float pi = std::numbers::pi_v<float>, at_zero = 1e-3F;
  if (x > radius) return 0;
  if (x <= at_zero) return 1;
  return radius * std::sin(pi * x) * std::sin(pi * x / radius) / (pi * pi * x * x);
}

/// Three standard deviations reach to the radius of 1.5.
float gaussian_weight(float x) {
  constexpr float radius = 1.5F, deviation = radius / 3;
  return x >= radius ? 0 : std::exp(-x * x / (2 * deviation * deviation));
}

SampleFilter filter_of(ResizeMethod method) {
  switch (method) {
    case ResizeMethod::bicubic:
      return {2, &keys_weight};
    case ResizeMethod::mitchellcubic:
      return {2, &mitchell_weight};
    case ResizeMethod::lanczos3:
      return {3, &lanczos_weight<3>};
    case ResizeMethod::lanczos5:
      return {5, &lanczos_weight<5>};
    case ResizeMethod::gaussian:
      return {1.5F, &gaussian_weight};
    default:
      return {1, &triangle_weight};
  }
}

/// TensorFlow's bicubic kernel without antialiasing looks its weights up in a table of 1024 places between two pixels.
float at_table_place(float sample) {
  constexpr float places = 1024;
  const float below = std::floor(sample - 0.5F);
  return below + std::nearbyint((sample - 0.5F - below) * places) / places + 0.5F;
}

/// The shares of the pixels around `sample`, whose sum is 1: filters end at the border. `stretch` widens the filter.
void weigh_around(std::span<float> row, const SampleFilter& filter, float sample, float stretch) {
  const auto last = static_cast<float>(row.size() - 1);
  // A product as TensorFlow's: a pixel at the radius itself counts or not by the last bit.
  const float reach = filter.radius * stretch, inverse = 1 / stretch;
  const auto place = [&](float at) { return static_cast<std::size_t>(std::clamp(at, 0.0F, last)); };
  const std::size_t begin = place(std::ceil(sample - reach - 0.5F)), end = place(std::floor(sample + reach - 0.5F)) + 1;
  float sum = 0;
  for (std::size_t i = begin; i < end; ++i) {
    row[i] = filter.weight(std::abs((static_cast<float>(i) + 0.5F - sample) * inverse));
    sum += row[i];
  }
  constexpr float least = 1000 * std::numeric_limits<float>::min();
  for (std::size_t i = begin; i < end; ++i) row[i] = std::abs(sum) >= least ? row[i] / sum : 0;
}

/// The shares of the pixels in the part of `scale` pixels from `first` on.
void weigh_area(std::span<float> row, float first, float scale) {
  const float end = first + scale;
  const auto last = static_cast<std::size_t>(std::min(std::ceil(end), static_cast<float>(row.size())));
  for (auto i = static_cast<std::size_t>(first); i < last; ++i) {
    const auto left = static_cast<float>(i);
    row[i] = std::max(std::min(left + 1, end) - std::max(left, first), 0.0F) / scale;
  }
}

/// [to, from] float32: resizing one dimension of `from` pixels is a product with it.
HostTensor sampling_matrix(ResizeMethod method, bool antialias, std::int64_t to, std::int64_t from) {
  HostTensor matrix = HostTensor::zeros({{to, from}, Dtype::f32});
  const float scale = static_cast<float>(from) / static_cast<float>(to);
  // Kernels of filters take a reciprocal of the other quotient, which may differ in the last bit.
  const auto reciprocal =
      static_cast<float>(1.0 / static_cast<double>(static_cast<float>(to) / static_cast<float>(from)));
  const SampleFilter filter = filter_of(method);
  for (std::int64_t i = 0; i < to; ++i) {
    const std::span<float> row =
        matrix.values<float>().subspan(static_cast<std::size_t>(i * from), static_cast<std::size_t>(from));
    if (method == ResizeMethod::nearest) {
      row[static_cast<std::size_t>(math::nearest_of(i, scale, from))] = 1;
    } else if (method == ResizeMethod::area) {
      weigh_area(row, static_cast<float>(i) * scale, scale);
    } else {
      const bool from_table = method == ResizeMethod::bicubic && !antialias;
      const float sample = (static_cast<float>(i) + 0.5F) * (from_table ? scale : reciprocal);
      const float stretch = antialias ? std::max(reciprocal, 1.0F) : 1.0F;
      weigh_around(row, filter, from_table ? at_table_place(sample) : sample, stretch);
    }
  }
  return matrix;
}

/// images [n, height, width, channels] -> [n, rows, columns, channels]: products with matrices [rows, height] and
/// [columns, width], or with their transposes.
Value times_matrices(Graph& graph, Value images, const std::array<HostTensor, 2>& matrices, bool transposed) {
  // A dimension is the first of a matrix for each image: the height is, and after a transposition the width.
  for (const HostTensor& numbers : matrices) {
    const TensorType type = graph.type(images);
    const std::int64_t extent = type.shape[1], other = type.shape[2], channels = type.shape[3];
    const Value matrix = ops::cast(graph, graph.constant(numbers), type.dtype);
    Value product = ops::reshape(graph, images, {-1, extent, other * channels});
    product = ops::matmul(graph, matrix, product, {.transpose_a = transposed});
    const std::int64_t resized = numbers.shape()[transposed ? 1 : 0];
    product = ops::reshape(graph, product, {-1, resized, other, channels});
    images = ops::transpose(graph, product, {0, 2, 1, 3});
  }
  return images;
}

std::array<HostTensor, 2> matrices_of(ResizeMethod method, bool antialias, const ImageExtents& to,
                                      const ImageExtents& from) {
  return {sampling_matrix(method, antialias, to.height, from.height),
          sampling_matrix(method, antialias, to.width, from.width)};
}

/// As one batch, however many dimensions are before the last three.
Value as_batch(Graph& graph, Value images, const ImageExtents& extents) {
  return ops::reshape(graph, images, {-1, extents.height, extents.width, extents.channels});
}

}  // namespace

namespace ops {

Value resize_images(Graph& graph, Value images, std::int64_t height, std::int64_t width, ResizeMethod method,
                    bool antialias) {
  const bool has_kernel = method == ResizeMethod::nearest || (method == ResizeMethod::bilinear && !antialias);
  auto op = std::make_shared<const ResizeImages>(height, width, has_kernel ? method : ResizeMethod::bilinear);
  if (has_kernel) return graph.apply(std::move(op), {images});
  const TensorType given = graph.type(images), result = op->infer(std::span(&given, 1))[0];
  const ImageExtents from = image_extents(given.shape), to = image_extents(result.shape);
  const Value batch = as_batch(graph, cast(graph, images, result.dtype), from);
  const Value resized = times_matrices(graph, batch, matrices_of(method, antialias, to, from), false);
  return given.rank() == 4 ? resized : reshape(graph, resized, result.shape);
}

Value resize_gradient(Graph& graph, Value dy, const TensorType& images, ResizeMethod method) {
  const ImageExtents from = image_extents(images.shape), to = image_extents(graph.type(dy).shape);
  const Value dx = times_matrices(graph, as_batch(graph, dy, to), matrices_of(method, false, to, from), true);
  return cast(graph, reshape(graph, dx, images.shape), images.dtype);
}

}  // namespace ops
}  // namespace gpubench
