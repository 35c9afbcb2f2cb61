// Blocks of rows that fit the first-level cache. A row of ten classes is too short for vector code, so the expensive
// part (the exponential) runs over all elements of a block at once and only the cheap parts run row by row.
#pragma once
#include <algorithm>
#include <cstring>

#include "core/backend/cpu/lanes.h"
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

/// Combines a row's elements: a vector's lanes side by side, which is a fixed order, so that compilers need no licence
/// to reorder sums. `term(lanes or float, index)` gives what element `index` adds to `combine`.
template <class Term, class Combine>
float reduce_row(std::int64_t count, float start, const Term& term, const Combine& combine) {
  float result = start;
  std::int64_t i = 0;
  if (count >= lane_count) {
    LaneValues parts = term(LaneValues{}, 0);
    for (i = lane_count; i + lane_count <= count; i += lane_count) parts = combine(parts, term(LaneValues{}, i));
    for (std::int64_t lane = 0; lane < lane_count; ++lane) result = combine(result, parts[lane]);
  }
  for (; i < count; ++i) result = combine(result, term(0.0F, i));
  return result;
}

/// The elements at `from`, as many as T holds. Copied, because `from` need not be aligned as T is.
template <class T>
T elements_at(const float* from) {
  T result;
  std::memcpy(&result, from, sizeof result);
  return result;
}

inline float row_max(const float* x, std::int64_t count) {
  const auto term = [x](auto kind, std::int64_t i) { return elements_at<decltype(kind)>(x + i); };
  return reduce_row(count, x[0], term, [](auto a, auto b) { return b > a ? b : a; });
}

inline float row_sum(const float* x, std::int64_t count) {
  const auto term = [x](auto kind, std::int64_t i) { return elements_at<decltype(kind)>(x + i); };
  return reduce_row(count, 0.0F, term, [](auto a, auto b) { return a + b; });
}

/// As row_sum, of the products.
inline float row_dot(const float* a, const float* b, std::int64_t count) {
  const auto term = [a, b](auto kind, std::int64_t i) {
    return elements_at<decltype(kind)>(a + i) * elements_at<decltype(kind)>(b + i);
  };
  return reduce_row(count, 0.0F, term, [](auto left, auto right) { return left + right; });
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
