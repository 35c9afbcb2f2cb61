// A row-major matrix product in the terms of cuBLASLt, whose matrices are column-major. A row-major matrix read as
// column-major is its transpose, so the library computes c' = b' a': its rows are our columns, and its bias, one value
// per row, is our bias per column.
#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cuda {

/// A stored column-major matrix without gaps, and the distance to the next one of a batch (0: all share this one).
struct MatrixShape {
  std::int64_t rows = 0, columns = 0;
  std::int64_t batch_stride = 0;  ///< elements
  auto operator<=>(const MatrixShape&) const = default;
};

struct MatmulGeometry {
  MatrixShape left, right, result;  ///< left is our second input, right our first
  bool transpose_left = false, transpose_right = false;
  std::int64_t batch = 1;
  /// Offsets at which each launch begins, in elements. There is one launch unless no single stride covers the leading
  /// dimensions.
  struct Start {
    std::int64_t left = 0, right = 0, result = 0;
    bool operator==(const Start&) const = default;
  };
  std::vector<Start> launches{{}};
};

/// The product of these inputs; its result may be empty.
MatmulGeometry matmul_geometry(const Matmul& op, const Signature& signature);

/// Tensors begin at multiples of this many bytes.
inline constexpr std::int64_t tensor_alignment = 64;

/// The alignment in bytes that the memory of every launch has.
std::uint32_t matmul_alignment(const MatmulGeometry& geometry, std::size_t element_bytes);

}  // namespace gpubench::cuda
