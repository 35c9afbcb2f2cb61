// A product of row-major matrices as cuBLASLt sees it. The library's matrices are column-major, in which a row-major
// matrix is its transpose: it computes c' = b' a', so that its rows are our columns and its bias, one value a row, is
// ours.
#pragma once
#include <cstdint>
#include <vector>

#include "core/backend/backend.h"
#include "core/ops/matmul.h"

namespace gpubench::cuda {

/// A stored matrix, column-major without gaps, and how far the next of a batch is (0: the same for all).
struct MatrixShape {
  std::int64_t rows = 0, columns = 0;
  std::int64_t batch_stride = 0;  ///< elements
  bool operator==(const MatrixShape&) const = default;
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

/// What cuBLASLt does to its own result, and what a kernel of ours does after it.
struct MatmulEpilogue {
  bool bias = false;
  bool relu = false;
  Activation after = Activation::none;
};

/// cuBLASLt has relu; its gelu is the approximation by tanh, which is another function than the op's.
MatmulEpilogue matmul_epilogue(const MatmulAttributes& options);

/// The alignment in bytes that every launch's memory has: tensors begin at multiples of 64.
std::uint32_t matmul_alignment(const MatmulGeometry& geometry, std::size_t element_bytes);

}  // namespace gpubench::cuda
