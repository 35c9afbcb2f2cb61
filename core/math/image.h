// The random decisions of image ops per image, and their arithmetic per pixel. Semantics as in tf.image; an image's
// draws equal those of random_uniform for a single number in the step of the image's number.
#pragma once
#include <cmath>

#include "core/math/philox.h"

namespace gpubench::math {

/// The random words of an image.
struct ImageDraw {
  std::uint32_t first, second;
};
GPUBENCH_HOST_DEVICE ImageDraw draw_for_image(std::uint64_t seed, std::uint64_t number) {
  return {philox_word(seed, number, 0), philox_word(seed, number, 0, true)};
}
/// The number of image `i`, if each of `steps` counts `images_per_step` images.
GPUBENCH_HOST_DEVICE std::uint64_t image_number(const std::int64_t* steps, std::int64_t images_per_step,
                                                std::int64_t i) {
  return static_cast<std::uint64_t>(steps[i / images_per_step] + i % images_per_step);
}

/// True with probability 1/2, as uniform < 1/2.
GPUBENCH_HOST_DEVICE bool flips(const ImageDraw& draw) {
  return draw.first >> 31 == 0;
}
/// A random index below `count`.
GPUBENCH_HOST_DEVICE std::int64_t place_of(std::uint32_t word, std::int64_t count) {
  return static_cast<std::int64_t>(std::uint64_t{word} * static_cast<std::uint64_t>(count) >> 32);
}
GPUBENCH_HOST_DEVICE float between(std::uint32_t word, float low, float high) {
  return low + (high - low) * to_uniform(word);
}

/// Rounds to a byte; clamps to [0, 255].
GPUBENCH_HOST_DEVICE std::uint8_t to_byte(float x) {
  const float rounded = floorf(x + 0.5F);
  return static_cast<std::uint8_t>(rounded > 0.0F ? (rounded < 255.0F ? rounded : 255.0F) : 0.0F);
}

/// The two pixels that bilinear resizing mixes along one dimension, and the weight of the upper one. Pixels are areas
/// with centres at half-integers.
struct Neighbours {
  std::int64_t lower, upper;
  float share;
};
GPUBENCH_HOST_DEVICE Neighbours neighbours_of(std::int64_t i, float scale, std::int64_t extent) {
  const float at = (static_cast<float>(i) + 0.5F) * scale - 0.5F, below = floorf(at);
  const auto lower = static_cast<std::int64_t>(below);
  return {lower < 0 ? 0 : lower, lower + 1 < extent ? lower + 1 : extent - 1, at - below};
}
GPUBENCH_HOST_DEVICE std::int64_t nearest_of(std::int64_t i, float scale, std::int64_t extent) {
  const auto at = static_cast<std::int64_t>(floorf((static_cast<float>(i) + 0.5F) * scale));
  return at < extent ? at : extent - 1;
}
/// Interpolates within both rows, then between them.
GPUBENCH_HOST_DEVICE float bilinear(float above_left, float above_right, float below_left, float below_right,
                                    float right, float below) {
  const float top = above_left + (above_right - above_left) * right;
  const float bottom = below_left + (below_right - below_left) * right;
  return top + (bottom - top) * below;
}

}  // namespace gpubench::math
