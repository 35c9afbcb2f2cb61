// float16 and bfloat16 as storage: conversions to and from float32, rounding to nearest even, without a branch.
#pragma once
#include <cstdint>

#include "core/math/elementary.h"
#include "core/math/host_device.h"

namespace gpubench::math {

struct Float16 {
  std::uint16_t bits;
};
struct Bfloat16 {
  std::uint16_t bits;
};

GPUBENCH_HOST_DEVICE float to_float(Bfloat16 x) {
  return from_bits(static_cast<std::int32_t>(x.bits) << 16);
}

GPUBENCH_HOST_DEVICE Bfloat16 to_bfloat16(float x) {
  const auto bits = static_cast<std::uint32_t>(to_bits(x));
  const std::uint32_t rounded = bits + 0x7FFFU + (bits >> 16 & 1U);
  const std::uint32_t nan = bits | 0x400000U;  // otherwise rounding could turn NaN into infinity
  return {static_cast<std::uint16_t>((x != x ? nan : rounded) >> 16)};
}

GPUBENCH_HOST_DEVICE float to_float(Float16 x) {
  const std::int32_t magnitude = (x.bits & 0x7FFF) << 13;
  // The exponents' biases differ by 112; multiplying also normalizes denormals.
  const float value = from_bits(magnitude) * 0x1p112F;
  const float special = from_bits(magnitude | 0x7F800000);
  const float unsigned_value = magnitude >= 0x0F800000 ? special : value;
  return (x.bits & 0x8000) != 0 ? -unsigned_value : unsigned_value;
}

GPUBENCH_HOST_DEVICE Float16 to_float16(float x) {
  const std::int32_t bits = to_bits(x), magnitude = bits & 0x7FFFFFFF;
  // Normal: move the exponent's bias and round at bit 13. A carry into infinity is correct.
  const std::int32_t normal = (magnitude - (112 << 23) + 0xFFF + (magnitude >> 13 & 1)) >> 13;
  // Denormal: adding 1/2 aligns the significand, so that the sum's last bits are the result's.
  const std::int32_t denormal = to_bits(from_bits(magnitude) + 0.5F) - 0x3F000000;
  const std::int32_t nan = 0x7E00, infinity = 0x7C00;
  const std::int32_t finite = magnitude < 0x38800000 ? denormal : normal;
  const std::int32_t large = magnitude >= 0x47800000 ? infinity : finite;
  const std::int32_t result = magnitude > 0x7F800000 ? nan : large;
  return {static_cast<std::uint16_t>(result | (bits >> 16 & 0x8000))};
}

}  // namespace gpubench::math
