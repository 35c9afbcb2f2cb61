// What tensor cores make of float32.
#pragma once
#include <cmath>

namespace gpubench::cuda_on_cpu {

/// TF32: 10 bits behind the point, the nearest.
inline double as_tf32(double value) {
  int exponent = 0;
  const double mantissa = std::frexp(value, &exponent);
  return std::ldexp(std::nearbyint(std::ldexp(mantissa, 11)), exponent - 11);
}

}  // namespace gpubench::cuda_on_cpu
