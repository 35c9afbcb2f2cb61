// Tensors seen as rows of channels or classes, and sums down their columns: what bias, normalization, softmax and loss
// kernels have in common.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>

#include "core/backend/cpu/parallel.h"
#include "core/tensor/tensor_type.h"

namespace gpubench::cpu {

struct Rows {
  std::int64_t count = 0;
  std::int64_t columns = 0;

  explicit Rows(const TensorType& type)
      : count(type.shape.back() == 0 ? 0 : type.elements() / type.shape.back()), columns(type.shape.back()) {}
  std::int64_t elements() const { return count * columns; }
};

/// Sums of `Sums` quantities down the columns.
template <std::size_t Sums>
class ColumnSums {
 public:
  ColumnSums(Rows rows, int threads) : rows_(rows), threads_(threads) {}

  std::size_t workspace_bytes() const {
    return static_cast<std::size_t>(threads_) * Sums * static_cast<std::size_t>(rows_.columns) * sizeof(double);
  }

  /// `quantities(element, column)` gives the Sums numbers that one element adds. The result lies in the workspace: sum
  /// s of column c at [s * columns + c]. Short runs are summed in float, which vectorizes, and added up in double.
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

}  // namespace gpubench::cpu
