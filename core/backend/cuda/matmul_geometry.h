// A product of row-major matrices as cuBLASLt sees it. The library's matrices are column-major, in which a row-major
// matrix is its transpose: it computes c' = b' a', so that its rows are our columns and its bias, one value a row, is
// ours.
#pragma once
#include <compare>
#include <cstdint>
#include <vector>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cuda {

/// A stored matrix, column-major without gaps, and how far the next of a batch is (0: the same for all).
struct MatrixShape {
  std::int64_t rows = 0, columns = 0;
  std::int64_t batch_stride = 0;  ///< elements
  auto operator<=>(const MatrixShape&) const = default;
};

struct MatmulGeometry {
  MatrixShape left, right, result;  ///< left is our second input, right our first
  bool transpose_left = false, transpose_right = false;
  std::int64_t batch = 1;
  /// Where each launch begins, in elements: one launch but for leading dimensions that no single stride walks.
  struct Start {
    std::int64_t left = 0, right = 0, result = 0;
    bool operator==(const Start&) const = default;
  };
  std::vector<Start> launches{{}};
};

/// The product of these inputs; its result may be empty.
MatmulGeometry matmul_geometry(const Matmul& op, const Signature& signature);

/// Tensors begin at multiples of so many bytes.
inline constexpr std::int64_t tensor_alignment = 64;

/// The alignment in bytes that every launch's memory has.
std::uint32_t matmul_alignment(const MatmulGeometry& geometry, std::size_t element_bytes);

}  // namespace gpubench::cuda
