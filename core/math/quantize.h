// Symmetric int8 quantization: x is approximated by an integer in [-128, 127] times a positive scale.
#pragma once
#include <cstdint>

#include "core/math/elementary.h"

namespace gpubench::math {

inline constexpr float lowest_int8 = -128.0F, highest_int8 = 127.0F;

/// Rounds to the nearest integer, ties to even; saturates; NaN becomes the lowest value.
GPUBENCH_HOST_DEVICE float to_int8_range(float x) {
  const float low = x > lowest_int8 ? x : lowest_int8;
  return rintf(low < highest_int8 ? low : highest_int8);
}

struct Quantize {
  GPUBENCH_HOST_DEVICE std::int8_t operator()(float x, float scale) const {
    return static_cast<std::int8_t>(static_cast<std::int32_t>(to_int8_range(x / scale)));
  }
};

/// x rounded to a multiple of the scale; with a scale of 0 (no range set yet), `x` itself.
struct FakeQuantize {
  GPUBENCH_HOST_DEVICE float operator()(float x, float scale) const {
    return scale > 0.0F ? to_int8_range(x / scale) * scale : x;
  }
};

/// Straight-through estimator: dy where x does not saturate, else 0.
struct FakeQuantizeGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float x, float scale) const {
    return x >= lowest_int8 * scale && x <= highest_int8 * scale ? dy : scale > 0.0F ? 0.0F : dy;
  }
};

}  // namespace gpubench::math
