// Sums of float32 that stay accurate for millions of terms.
#pragma once
#include <algorithm>
#include <cstdint>

namespace gpubench::cpu {

/// Terms added in float32 lanes before their sum is added in double precision.
inline constexpr std::int64_t sum_block = 1024;

inline double sum_of(const float* values, std::int64_t count) {
  double total = 0;
  for (std::int64_t begin = 0; begin < count; begin += sum_block) {
    const std::int64_t end = std::min(begin + sum_block, count);
    float part = 0;
#pragma omp simd reduction(+ : part)
    for (std::int64_t i = begin; i < end; ++i) part += values[i];
    total += static_cast<double>(part);
  }
  return total;
}

}  // namespace gpubench::cpu
