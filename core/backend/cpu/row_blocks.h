// Blocks of rows that fit the first-level cache. A row of ten classes is too short for vector code, so the expensive
// part (the exponential) runs over all elements of a block at once and only the cheap parts run row by row.
#pragma once
#include <algorithm>

#include "core/backend/cpu/rows.h"
#include "core/math/elementary.h"

namespace gpubench::cpu {

struct RowBlocks {
  static constexpr std::int64_t block_elements = 2048;

  Rows rows;
  int threads = 1;

  explicit RowBlocks(const TensorType& type)
      : rows(type), threads(threads_for(rows.count, rows.elements() * cost_per_element)) {}

  /// body(first, last): rows of one block, in the device's threads.
  template <class Body>
  void for_each(Body&& body) const {
    const std::int64_t step = std::max<std::int64_t>(1, block_elements / std::max<std::int64_t>(1, rows.columns));
    parallel_ranges(threads, rows.count, [&](int, std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin; first < end; first += step) body(first, std::min(first + step, end));
    });
  }

 private:
  static constexpr std::int64_t cost_per_element = 4;
};

inline float row_max(const float* x, std::int64_t count) {
  float largest = x[0];
  for (std::int64_t i = 1; i < count; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

/// The fixed order of eight partial sums lets compilers vectorize without reordering anything.
inline float row_sum(const float* x, std::int64_t count) {
  std::array<float, 8> parts{};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::int64_t lane = 0; lane < 8; ++lane) parts[static_cast<std::size_t>(lane)] += x[i + lane];
  }
  float rest = 0;
  for (; i < count; ++i) rest += x[i];
  return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7])) + rest;
}

/// As row_sum, of the products.
inline float row_dot(const float* a, const float* b, std::int64_t count) {
  std::array<float, 8> parts{};
  std::int64_t i = 0;
  for (; i + 8 <= count; i += 8) {
    for (std::int64_t lane = 0; lane < 8; ++lane) parts[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
  }
  float rest = 0;
  for (; i < count; ++i) rest += a[i] * b[i];
  return ((parts[0] + parts[4]) + (parts[1] + parts[5])) + ((parts[2] + parts[6]) + (parts[3] + parts[7])) + rest;
}

/// y = x - max(x) for each row; y may be x.
inline void subtract_row_max(const float* x, std::int64_t rows, std::int64_t columns, float* y) {
  for (std::int64_t at = 0; at < rows * columns; at += columns) {
    const float largest = row_max(x + at, columns);
    for (std::int64_t i = 0; i < columns; ++i) y[at + i] = x[at + i] - largest;
  }
}

inline void exp_in_place(float* x, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) x[i] = math::exp(x[i]);
}

}  // namespace gpubench::cpu
