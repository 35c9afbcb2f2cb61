// Products of a few rows with a packed matrix, inside the loops of a kernel: the matrix lies in panels of a few vectors
// of columns, so that a panel stays in the first-level cache while all rows pass, and the sums in registers.
#pragma once
#include <cstdint>

#include "core/backend/cpu/lanes.h"

namespace gpubench::cpu {

/// Sums of a block in registers: 24 of 32, 8 of 16; the rest holds a vector of the panel and an element of a row.
inline constexpr std::int64_t sums_in_registers = vector_registers >= 32 ? 24 : 8;

/// A matrix of `terms` rows in `panels` panels of Vectors vectors.
template <std::int64_t Vectors>
struct PanelMatrix {
  static constexpr std::int64_t width = Vectors * lane_count;
  static constexpr std::int64_t most_rows = sums_in_registers / Vectors;

  std::int64_t terms = 0, panels = 0;

  std::int64_t panel_elements() const { return terms * width; }
  std::int64_t elements() const { return panels * panel_elements(); }

  /// element(term, panel, vector, lane) is the matrix's element at that place, or 0 where it has none.
  template <class Element>
  void pack(float* to, const Element& element) const {
    for (std::int64_t panel = 0; panel < panels; ++panel) {
      for (std::int64_t term = 0; term < terms; ++term) {
        for (std::int64_t v = 0; v < Vectors; ++v) {
          for (std::int64_t lane = 0; lane < lane_count; ++lane) *to++ = element(term, panel, v, lane);
        }
      }
    }
  }

  /// Calls body(first row, rows, sums [rows][width]) for blocks of `rows` rows of `a` times one panel.
  template <class Body>
  void multiply(std::int64_t rows, const float* a, std::int64_t a_stride, const float* panel, const Body& body) const {
    multiply_rows<false>(rows, a, a_stride, panel, body);
  }

  /// The same where each vector of the panel has its own `a`: `terms` elements of a row for each, one after the other.
  template <class Body>
  void multiply_each(std::int64_t rows, const float* a, std::int64_t a_stride, const float* panel,
                     const Body& body) const {
    multiply_rows<true>(rows, a, a_stride, panel, body);
  }

 private:
  template <bool Each, class Body>
  void multiply_rows(std::int64_t rows, const float* a, std::int64_t a_stride, const float* panel,
                     const Body& body) const {
    alignas(vector_bytes) float sums[most_rows * width];
    in_groups<most_rows>(rows, [&]<std::int64_t Rows>(std::int64_t first) {
      block<Rows, Each>(a + first * a_stride, a_stride, panel, sums);
      body(first, Rows, sums);
    });
  }

  template <std::int64_t Rows, bool Each>
  void block(const float* a, std::int64_t a_stride, const float* panel, float* to) const {
    Lanes sums[Rows][Vectors]{};
    for (std::int64_t term = 0; term < terms; ++term, panel += width) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < Vectors; ++v) {
        const Lanes right = *reinterpret_cast<const Lanes*>(panel + v * lane_count);
#pragma GCC unroll 8
        for (std::int64_t row = 0; row < Rows; ++row) {
          sums[row][v] += a[row * a_stride + (Each ? v * terms : 0) + term] * right;
        }
      }
    }
#pragma GCC unroll 8
    for (std::int64_t row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < Vectors; ++v) {
        *reinterpret_cast<Lanes*>(to + row * width + v * lane_count) = sums[row][v];
      }
    }
  }
};

}  // namespace gpubench::cpu
