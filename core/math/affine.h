// Random affine maps of images: the map of one image from its draws, and where pixels outside an image come from.
// Coordinates are pixels' indices, x to the right and y down.
#pragma once
#include <cmath>

#include "core/math/image.h"

namespace gpubench::math {

/// flip: both or either of x and y, each with probability 1/2. rotate: by an angle in radians, counter-clockwise. zoom:
/// by factors of the part of the image that is seen. translate: by shares of height and width, down and to the right.
enum class Motion : std::uint8_t { flip, rotate, translate, zoom };
/// The pixels outside: mirrored at the edge, repeated, those of the edge, or one value.
enum class Fill : std::uint8_t { constant, nearest, reflect, wrap };

/// Bounds of the two draws of each image: of y (rotate: the angle), and of x. flip: whether y and x are flipped at all.
struct MotionRange {
  Motion motion = Motion::flip;
  float low_y = 0, high_y = 0, low_x = 0, high_x = 0;
  bool together = false;  ///< zoom: x by the factor of y
};

/// Output pixel (x, y) shows the input at (xx x + xy y + x0, yx x + yy y + y0).
struct AffineMap {
  float xx, xy, x0, yx, yy, y0;
};

/// A map that keeps the centre of the image in its place.
GPUBENCH_HOST_DEVICE AffineMap around_centre(float xx, float xy, float yx, float yy, std::int64_t height,
                                             std::int64_t width) {
  const float x = 0.5F * static_cast<float>(width - 1), y = 0.5F * static_cast<float>(height - 1);
  return {xx, xy, x - xx * x - xy * y, yx, yy, y - yx * x - yy * y};
}

GPUBENCH_HOST_DEVICE AffineMap map_of(const MotionRange& range, const ImageDraw& draw, std::int64_t height,
                                      std::int64_t width) {
  const float y = between(draw.first, range.low_y, range.high_y);
  const float x = range.together ? y : between(draw.second, range.low_x, range.high_x);
  switch (range.motion) {
    case Motion::flip: {
      const float down = range.high_y > 0.0F && draw.first >> 31 == 0 ? -1.0F : 1.0F;
      const float across = range.high_x > 0.0F && draw.second >> 31 == 0 ? -1.0F : 1.0F;
      return around_centre(across, 0.0F, 0.0F, down, height, width);
    }
    case Motion::rotate: {
      const float c = cosf(y), s = sinf(y);
      return around_centre(c, -s, s, c, height, width);
    }
    case Motion::zoom:
      return around_centre(x, 0.0F, 0.0F, y, height, width);
    default:
      return {1.0F, 0.0F, -x * static_cast<float>(width), 0.0F, 1.0F, -y * static_cast<float>(height)};
  }
}

/// The index inside [0, extent) that stands for `i`; -1 for none.
GPUBENCH_HOST_DEVICE std::int64_t filled_index(Fill fill, std::int64_t i, std::int64_t extent) {
  if (i >= 0 && i < extent) return i;
  switch (fill) {
    case Fill::constant:
      return -1;
    case Fill::nearest:
      return i < 0 ? 0 : extent - 1;
    case Fill::wrap: {
      const std::int64_t rest = i % extent;
      return rest < 0 ? rest + extent : rest;
    }
    default: {
      const std::int64_t period = 2 * extent, rest = (i % period + period) % period;
      return rest < extent ? rest : period - 1 - rest;
    }
  }
}

/// The pixels that an output pixel is interpolated from, by index, -1 for none; the weights of the right and the lower
/// ones. Without interpolation all are one.
struct SampledPixels {
  std::int64_t top, bottom, left, right;
  float across, down;
};
GPUBENCH_HOST_DEVICE SampledPixels sampled_pixels(const AffineMap& map, Fill fill, bool bilinear_samples,
                                                  std::int64_t height, std::int64_t width, std::int64_t y,
                                                  std::int64_t x) {
  const float column = map.xx * static_cast<float>(x) + map.xy * static_cast<float>(y) + map.x0;
  const float row = map.yx * static_cast<float>(x) + map.yy * static_cast<float>(y) + map.y0;
  const float above = bilinear_samples ? floorf(row) : rintf(row);
  const float before = bilinear_samples ? floorf(column) : rintf(column);
  const auto top = static_cast<std::int64_t>(above), left = static_cast<std::int64_t>(before);
  const std::int64_t next = bilinear_samples ? 1 : 0;
  return {filled_index(fill, top, height),
          filled_index(fill, top + next, height),
          filled_index(fill, left, width),
          filled_index(fill, left + next, width),
          column - before,
          row - above};
}

}  // namespace gpubench::math
