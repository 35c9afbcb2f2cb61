#include "core/backend/cuda/matmul_geometry.h"

#include <array>
#include <numeric>

#include "core/backend/broadcast_plan.h"

namespace gpubench::cuda {
namespace {

Shape leading(const TensorType& type) {
  return {type.shape.begin(), type.shape.end() - 2};
}

std::int64_t matrix_elements(const TensorType& type) {
  return type.shape.back() * type.shape[type.shape.size() - 2];
}

/// A row-major matrix as it lies in memory, read column-major.
MatrixShape stored(const TensorType& type) {
  return {.rows = type.shape.back(), .columns = type.shape[type.shape.size() - 2], .batch_stride = 0};
}

/// The last leading dimension becomes the batch, those before it launches.
void walk_batches(MatmulGeometry& geometry, Shape batches, std::array<Strides, 2> strides) {
  merge_dimensions("matmul", batches, strides);
  if (batches.empty()) return;
  geometry.batch = batches.back();
  geometry.left.batch_stride = strides[0].back();
  geometry.right.batch_stride = strides[1].back();
  geometry.result.batch_stride = geometry.result.rows * geometry.result.columns;
  batches.pop_back();
  geometry.launches.clear();
  const std::int64_t launches = element_count(batches);
  for (std::int64_t launch = 0; launch < launches; ++launch) {
    MatmulGeometry::Start start{0, 0, launch * geometry.batch * geometry.result.batch_stride};
    std::int64_t rest = launch;
    for (std::size_t d = batches.size(); d-- > 0;) {
      start.left += rest % batches[d] * strides[0][d];
      start.right += rest % batches[d] * strides[1][d];
      rest /= batches[d];
    }
    geometry.launches.push_back(start);
  }
}

}  // namespace

MatmulGeometry matmul_geometry(const Matmul& op, const Signature& signature) {
  const TensorType &a = signature.inputs[0], &b = signature.inputs[1], &c = signature.outputs[0];
  MatmulGeometry geometry{.left = stored(b),
                          .right = stored(a),
                          .result = stored(c),
                          .transpose_left = op.options.transpose_b,
                          .transpose_right = op.options.transpose_a};
  if (c.rank() == 2) return geometry;
  if (b.rank() == 2 && !op.options.transpose_a) {  // a batch of matrices times one matrix is one tall matrix times it
    geometry.right.columns = a.elements() / std::max<std::int64_t>(1, a.shape.back());
    geometry.result.columns = geometry.right.columns;
    return geometry;
  }
  const Shape batches = leading(c);
  std::array<Strides, 2> strides{stretched_strides(leading(b), batches), stretched_strides(leading(a), batches)};
  for (std::int64_t& stride : strides[0]) stride *= matrix_elements(b);
  for (std::int64_t& stride : strides[1]) stride *= matrix_elements(a);
  walk_batches(geometry, batches, std::move(strides));
  return geometry;
}

std::uint32_t matmul_alignment(const MatmulGeometry& geometry, std::size_t element_bytes) {
  std::int64_t alignment = tensor_alignment;
  for (const MatmulGeometry::Start& start : geometry.launches) {
    for (const std::int64_t elements : {start.left, start.right, start.result}) {
      alignment = std::gcd(alignment, elements * static_cast<std::int64_t>(element_bytes));
    }
  }
  return static_cast<std::uint32_t>(alignment);
}

}  // namespace gpubench::cuda
