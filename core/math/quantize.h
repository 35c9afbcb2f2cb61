// Symmetric quantization: a number is a whole multiple of a scale above 0, from -128 to 127 of them.
#pragma once
#include <cstdint>

#include "core/math/elementary.h"

namespace gpubench::math {

inline constexpr float lowest_int8 = -128.0F, highest_int8 = 127.0F;

/// To the nearest whole number, and to the even one of two that are as near; saturates, and what is not a number
/// becomes the lowest.
GPUBENCH_HOST_DEVICE float to_int8_range(float x) {
  const float low = x > lowest_int8 ? x : lowest_int8;
  return rintf(low < highest_int8 ? low : highest_int8);
}

struct Quantize {
  GPUBENCH_HOST_DEVICE std::int8_t operator()(float x, float scale) const {
    return static_cast<std::int8_t>(static_cast<std::int32_t>(to_int8_range(x / scale)));
  }
};

/// The multiple itself; with a scale of 0, which no range has set yet, `x` as it is.
struct FakeQuantize {
  GPUBENCH_HOST_DEVICE float operator()(float x, float scale) const {
    return scale > 0.0F ? to_int8_range(x / scale) * scale : x;
  }
};

/// Straight through where nothing saturates, and nothing elsewhere.
struct FakeQuantizeGradient {
  GPUBENCH_HOST_DEVICE float operator()(float dy, float x, float scale) const {
    return x >= lowest_int8 * scale && x <= highest_int8 * scale ? dy : scale > 0.0F ? 0.0F : dy;
  }
};

}  // namespace gpubench::math
