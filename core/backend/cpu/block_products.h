// Products of small float32 matrices that fit the caches, in vector registers and without packing: the inner loops of
// outer products and of attention. Threads are the callers' matter.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/backend/cpu/lanes.h"

namespace gpubench::cpu {

/// Whether a product overwrites its result or is added to it.
enum class Onto : std::uint8_t { nothing, result };

/// The left factor: element [row][term] is at data[row * row_stride + term * term_stride].
struct LeftFactor {
  const float* data = nullptr;
  std::int64_t row_stride = 0, term_stride = 1;

  LeftFactor from_row(std::int64_t row) const { return {data + row * row_stride, row_stride, term_stride}; }
};

/// c[Rows][Vectors * lanes] of `terms` terms. `width` is the distance of two rows.
template <Onto onto, std::int64_t Rows, std::int64_t Vectors>
[[gnu::always_inline]] inline void block_of_products(std::int64_t terms, LeftFactor a, const float* b,
                                                     std::int64_t b_width, float* c, std::int64_t c_width) {
  Lanes sums[Rows][Vectors]{};
  if constexpr (onto == Onto::result) {
#pragma GCC unroll 8
    for (std::int64_t row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < Vectors; ++v)
        sums[row][v] = *reinterpret_cast<const Lanes*>(c + row * c_width + v * lane_count);
    }
  }
  for (std::int64_t term = 0; term < terms; ++term, a.data += a.term_stride, b += b_width) {
    Lanes right[Vectors];
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < Vectors; ++v) right[v] = *reinterpret_cast<const Lanes*>(b + v * lane_count);
#pragma GCC unroll 8
    for (std::int64_t row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
      for (std::int64_t v = 0; v < Vectors; ++v) sums[row][v] += a.data[row * a.row_stride] * right[v];
    }
  }
#pragma GCC unroll 8
  for (std::int64_t row = 0; row < Rows; ++row) {
#pragma GCC unroll 8
    for (std::int64_t v = 0; v < Vectors; ++v)
      *reinterpret_cast<Lanes*>(c + row * c_width + v * lane_count) = sums[row][v];
  }
}

// As many sums as registers hold beside a row of b and an element of a.
inline constexpr std::int64_t product_rows = vector_registers >= 32 ? 6 : 4;
inline constexpr std::int64_t product_vectors = vector_registers >= 32 ? 4 : 2;

template <Onto onto, std::int64_t Vectors>
void columns_of_products(std::int64_t rows, std::int64_t terms, LeftFactor a, const float* b, std::int64_t b_width,
                         float* c, std::int64_t c_width) {
  std::int64_t row = 0;
  for (; row + product_rows <= rows; row += product_rows)
    block_of_products<onto, product_rows, Vectors>(terms, a.from_row(row), b, b_width, c + row * c_width, c_width);
  for (; row + 2 <= rows; row += 2)
    block_of_products<onto, 2, Vectors>(terms, a.from_row(row), b, b_width, c + row * c_width, c_width);
  if (row < rows) block_of_products<onto, 1, Vectors>(terms, a.from_row(row), b, b_width, c + row * c_width, c_width);
}

/// c[rows][columns] of the product of a [rows][terms] and b [terms][columns]; `columns` is a multiple of the lanes.
template <Onto onto>
void products(std::int64_t rows, std::int64_t columns, std::int64_t terms, LeftFactor a, const float* b,
              std::int64_t b_width, float* c, std::int64_t c_width) {
  constexpr std::int64_t wide = product_vectors * lane_count;
  std::int64_t column = 0;
  for (; column + wide <= columns; column += wide)
    columns_of_products<onto, product_vectors>(rows, terms, a, b + column, b_width, c + column, c_width);
  for (; column < columns; column += lane_count)
    columns_of_products<onto, 1>(rows, terms, a, b + column, b_width, c + column, c_width);
}

}  // namespace gpubench::cpu
