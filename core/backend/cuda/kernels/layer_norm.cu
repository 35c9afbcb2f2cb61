// Statistics and dx are rows' (rows.cuh), the parameters' gradients columns' (column_sums.cuh).
#include "core/backend/cuda/kernels/column_sums.cuh"
#include "core/backend/cuda/kernels/layer_norm.h"
#include "core/backend/cuda/kernels/rows.cuh"

namespace gpubench::cuda {
namespace {

struct NormalizeRow {
  LayerNormShape shape;
  LayerNormForward memory;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const float share = 1.0F / static_cast<float>(shape.channels);
    float mean = 0;
    if (shape.centered) {
      float sum = 0;
      for (std::int64_t i = row.rank; i < row.columns; i += row.width) sum += element(row, i);
      mean = By::reduce(row, sum, Plus{}) * share;
    }
    float squares = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float centered = element(row, i) - mean;
      squares += centered * centered;
    }
    const float inverse = 1.0F / sqrtf(By::reduce(row, squares, Plus{}) * share + shape.epsilon);
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float factor = inverse * load_as<float>(memory.gamma, shape.parameters, i);
      const float shift = shape.centered ? load_as<float>(memory.beta, shape.parameters, i) : 0.0F;
      store_as<float>(memory.y, shape.dtype, row.begin + i, (element(row, i) - mean) * factor + shift);
    }
    if (!row.leads()) return;
    if (shape.centered) memory.mean[row.index] = mean;
    memory.inverse[row.index] = inverse;
  }

  __device__ float element(const Row& row, std::int64_t i) const {
    return load_as<float>(memory.x, shape.dtype, row.begin + i);
  }
};

// With g = dy gamma and z = (x - mean) inverse: dx = inverse (g - mean(g) - z mean(g z)); mean(g) is missing where x is
// not centered.
struct RowInputGradient {
  LayerNormShape shape;
  LayerNormBackward memory;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const float mean = shape.centered ? memory.mean[row.index] : 0.0F, inverse = memory.inverse[row.index];
    const float share = 1.0F / static_cast<float>(shape.channels);
    float slopes = 0, moments = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float g = slope(row, i);
      slopes += g;
      moments += g * (load_as<float>(memory.x, shape.dtype, row.begin + i) - mean);
    }
    const float offset = shape.centered ? By::reduce(row, slopes, Plus{}) * share : 0.0F;
    const float by_x = By::reduce(row, moments, Plus{}) * share * inverse * inverse;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const float centered = load_as<float>(memory.x, shape.dtype, row.begin + i) - mean;
      store_as<float>(memory.dx, shape.dtype, row.begin + i, inverse * (slope(row, i) - offset - centered * by_x));
    }
  }

  __device__ float slope(const Row& row, std::int64_t i) const {
    return load_as<float>(memory.dy, shape.dtype, row.begin + i) * load_as<float>(memory.gamma, shape.parameters, i);
  }
};

__global__ void row_norm_slopes(LayerNormShape shape, LayerNormBackward memory, float* sums) {
  constexpr int ahead = 2;
  float x[ahead], dy[ahead], mean[ahead], inverse[ahead];
  sum_part<ahead>(
      shape, sums,
      [&](int k, std::int64_t row, std::int64_t i) {
        x[k] = load_as<float>(memory.x, shape.dtype, i);
        dy[k] = load_as<float>(memory.dy, shape.dtype, i);
        mean[k] = shape.centered ? memory.mean[row] : 0.0F;
        inverse[k] = memory.inverse[row];
      },
      [&](int k) {
        return ColumnPair{dy[k], dy[k] * (x[k] - mean[k]) * inverse[k]};
      });
}

__global__ void row_norm_parameters(LayerNormShape shape, LayerNormBackward memory, const float* sums) {
  sum_parts(shape, sums, [&](std::int64_t column, const ColumnPair& total) {
    if (shape.centered) store_as<float>(memory.dbeta, shape.parameters, column, total.first);
    store_as<float>(memory.dgamma, shape.parameters, column, total.second);
  });
}

}  // namespace

std::int64_t layer_norm_parts(std::int64_t rows, std::int64_t channels, int multiprocessors) {
  return column_parts(rows, channels, multiprocessors);
}

std::size_t layer_norm_workspace(const LayerNormShape& shape) {
  return column_sum_bytes(shape);
}

cudaError_t launch_layer_norm(const LaunchOn& on, const LayerNormShape& shape, const LayerNormForward& memory) {
  return launch_rows(on, shape.rows, shape.channels, NormalizeRow{shape, memory});
}

cudaError_t launch_layer_norm_gradient(const LaunchOn& on, const LayerNormShape& shape, const LayerNormBackward& memory,
                                       float* workspace) {
  if (shape.channels == 0) return cudaSuccess;  // without rows the gradients of the parameters are 0
  cudaError_t status = launch(on, column_blocks(shape), block_threads, &row_norm_slopes, shape, memory, workspace);
  if (status != cudaSuccess) return status;
  status = launch(on, summing_blocks(shape), block_threads, &row_norm_parameters, shape, memory, workspace);
  if (status != cudaSuccess) return status;
  return launch_rows(on, shape.rows, shape.channels, RowInputGradient{shape, memory});
}

}  // namespace gpubench::cuda
