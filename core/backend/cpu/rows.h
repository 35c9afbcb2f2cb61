// Tensors seen as rows of channels or classes, and sums over their columns: shared by the kernels of bias,
// normalization, softmax and losses. A row of ten classes is too short to vectorize, so the expensive part (the
// exponential) runs over a block of rows at once and only the cheap parts run row by row.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>

#include "core/backend/cpu/lanes.h"
#include "core/backend/cpu/parallel.h"
#include "core/math/elementary.h"
#include "core/tensor/tensor_type.h"

namespace gpubench::cpu {

/// Terms added in float32 lanes before their sum is added in double precision.
inline constexpr std::int64_t sum_block = 1024;

/// Stays accurate for millions of terms.
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

struct Rows {
  std::int64_t count = 0;
  std::int64_t columns = 0;

  explicit Rows(const TensorType& type)
      : count(type.shape.back() == 0 ? 0 : type.elements() / type.shape.back()), columns(type.shape.back()) {}
  std::int64_t elements() const { return count * columns; }
};

/// `Sums` different sums over each column.
template <std::size_t Sums>
class ColumnSums {
 public:
  ColumnSums(Rows rows, int threads) : rows_(rows), threads_(threads) {}

  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(threads_) * Sums * static_cast<std::size_t>(rows_.columns) * sizeof(double);
  }

  /// `quantities(element, column)` returns the Sums terms of one element. Sum s of column c is at [s * columns + c] of
  /// the result, which lies in the workspace. Short runs are summed in float, which vectorizes, then added in double.
  template <class Quantities>
  const double* compute(std::span<std::byte> workspace, Quantities&& quantities) const {
    auto* const totals = reinterpret_cast<double*>(workspace.data());
    const std::int64_t size = static_cast<std::int64_t>(Sums) * rows_.columns;
    std::fill_n(totals, threads_ * size, 0.0);
    parallel_ranges(threads_, rows_.count, [&](int thread, std::int64_t begin, std::int64_t end) {
      for (std::int64_t first = begin; first < end; first += run) {
        add_run(first, std::min(first + run, end), totals + thread * size, quantities);
      }
    });
    for (int thread = 1; thread < threads_; ++thread) {
      for (std::int64_t i = 0; i < size; ++i) totals[i] += totals[thread * size + i];
    }
    return totals;
  }

 private:
  static constexpr std::int64_t run = 64;
  static constexpr std::int64_t block = 64;

  template <class Quantities>
  void add_run(std::int64_t first, std::int64_t last, double* totals, Quantities& quantities) const {
    for (std::int64_t column = 0; column < rows_.columns; column += block) {
      const std::int64_t width = std::min(block, rows_.columns - column);
      std::array<std::array<float, block>, Sums> sums{};
      for (std::int64_t row = first; row < last; ++row) {
        const std::int64_t at = row * rows_.columns + column;
        for (std::int64_t i = 0; i < width; ++i) {
          const std::array<float, Sums> added = quantities(at + i, column + i);
          for (std::size_t s = 0; s < Sums; ++s) sums[s][static_cast<std::size_t>(i)] += added[s];
        }
      }
      for (std::size_t s = 0; s < Sums; ++s) {
        double* const total = totals + static_cast<std::int64_t>(s) * rows_.columns + column;
        for (std::int64_t i = 0; i < width; ++i) total[i] += static_cast<double>(sums[s][static_cast<std::size_t>(i)]);
      }
    }
  }

  Rows rows_;
  int threads_;
};

/// Blocks of rows that fit the first-level cache.
struct RowBlocks {
  static constexpr std::int64_t block_elements = 2048;

  Rows rows;
  int threads = 1;

  explicit RowBlocks(const TensorType& type)
      : rows(type), threads(threads_for(rows.count, rows.elements() * cost_per_element)) {}

  /// Calls body(first, last) for the rows of each block, on the device's threads.
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

/// Reduces a row in vector lanes, a longer one in several vectors at a time, because each operation waits for the one
/// before it. The order of additions is fixed, so no compiler flag for reordering is needed.
/// `term(lanes or float, index)` gives the operand of `combine` for element `index`. Always inlined: with a call for
/// each row of ten classes, softmax takes a quarter longer.
template <class Term, class Combine>
[[gnu::always_inline]] inline float reduce_row(std::int64_t count, float start, const Term& term,
                                               const Combine& combine) {
  constexpr std::int64_t vectors = 4, step = vectors * lane_count;
  float result = start;
  std::int64_t i = 0;
  if (count >= lane_count) {
    LaneValues parts = term(LaneValues{}, 0);
    i = lane_count;
    if (count >= 2 * step) [[unlikely]] {
      LaneValues others[vectors - 1];
      for (std::int64_t v = 1; v < vectors; ++v) others[v - 1] = term(LaneValues{}, v * lane_count);
      for (i = step; i + step <= count; i += step) {
        parts = combine(parts, term(LaneValues{}, i));
#pragma GCC unroll 4
        for (std::int64_t v = 1; v < vectors; ++v) {
          others[v - 1] = combine(others[v - 1], term(LaneValues{}, i + v * lane_count));
        }
      }
      for (const LaneValues& other : others) parts = combine(parts, other);
    }
    for (; i + lane_count <= count; i += lane_count) parts = combine(parts, term(LaneValues{}, i));
    for (std::int64_t lane = 0; lane < lane_count; ++lane) result = combine(result, parts[lane]);
  }
  for (; i < count; ++i) result = combine(result, term(0.0F, i));
  return result;
}

/// As many elements at `from` as T holds. They are copied, because `from` may be unaligned for T.
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

/// The dot product of two rows.
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
