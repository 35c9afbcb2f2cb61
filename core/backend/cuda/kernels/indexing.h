// One-hot encoding, gather and updates of rows. An index out of range cannot raise an Error, because the host does not
// wait for the GPU. Instead the result shows it: NaN for floats, -1 for integers, true for bools.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

struct Indices {
  const void* data = nullptr;
  Dtype type = Dtype::i64;
  std::int64_t count = 0;
};

/// [count, depth]
cudaError_t launch_one_hot(const LaunchOn& on, const Indices& indices, std::int64_t depth, Dtype type, void* out);

/// Copies rows of `row_bytes` bytes, of any type but bytes.
cudaError_t launch_gather(const LaunchOn& on, const Indices& indices, std::int64_t rows, std::int64_t row_bytes,
                          Dtype type, const void* params, void* out);

/// Rows and columns that a block of launch_gather_gradient sums.
inline constexpr std::int64_t gather_tile = 32;

struct GatherGradientShape {
  std::int64_t rows = 0, columns = 0;
  /// Parts into which the indices are divided; `out` is [parts, rows, columns].
  std::int64_t parts = 1;
  Dtype dy_type = Dtype::f32, out_type = Dtype::f32;
};

/// Row r of the result is the sum of the rows of dy [count, columns] whose index is r, added in their order. Indices
/// out of range are ignored.
cudaError_t launch_gather_gradient(const LaunchOn& on, const Indices& indices, const GatherGradientShape& shape,
                                   const void* dy, void* out);

inline constexpr int most_indexed_axes = 8;

struct IndexedAxes {
  int count = 0;
  std::int64_t extents[most_indexed_axes] = {};
};

/// places [count, axes.count] -> the number of each place, or -1 where it does not exist. indices.count: of places.
cudaError_t launch_flat_index(const LaunchOn& on, const Indices& indices, const IndexedAxes& axes, std::int64_t* out);

/// x [rows, row_bytes] with rows of `updates` in place of those whose index they have; the last one of a row stays.
/// `out` may be `x`.
cudaError_t launch_scatter_update(const LaunchOn& on, const Indices& indices, std::int64_t rows, std::int64_t row_bytes,
                                  Dtype type, const void* x, const void* updates, void* out);

}  // namespace gpubench::cuda
