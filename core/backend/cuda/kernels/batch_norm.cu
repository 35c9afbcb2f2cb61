// Statistics and gradients of the parameters are sums over columns (column_sums.cuh); what is computed per element
// keeps the same tiles, so that a thread reads its column's parameters once.
#include "core/backend/cuda/kernels/batch_norm.h"
#include "core/backend/cuda/kernels/column_sums.cuh"

namespace gpubench::cuda {
namespace {

__device__ inline float rsqrt_of(float variance, float epsilon) {
  return 1.0F / sqrtf(variance + epsilon);
}

// Moments of x minus the first row, so that a large mean does not cancel the variance.
__global__ void moments_kernel(BatchNormShape shape, const void* x, float* sums) {
  const std::int64_t column = ColumnPlace(shape.channels).column;
  const float shift = column < shape.channels ? load_as<float>(x, shape.dtype, column) : 0.0F;
  constexpr int ahead = 5;
  float loaded[ahead];
  sum_part<ahead>(
      shape, sums, [&](int k, std::int64_t, std::int64_t i) { loaded[k] = load_as<float>(x, shape.dtype, i); },
      [&](int k) {
        const float centered = loaded[k] - shift;
        return ColumnPair{centered, centered * centered};
      });
}

/// Leaves mean and variance where the first part's sums were, as they are before they are rounded.
__global__ void statistics_kernel(BatchNormShape shape, const void* x, float* sums, void* mean, void* variance) {
  sum_parts(shape, sums, [&](std::int64_t column, const ColumnPair& total) {
    const float count = static_cast<float>(shape.rows), offset = total.first / count;
    const float spread = total.second / count - offset * offset;
    sums[column] = load_as<float>(x, shape.dtype, column) + offset;
    sums[shape.channels + column] = spread > 0.0F ? spread : 0.0F;
    store_as<float>(mean, shape.parameters, column, sums[column]);
    store_as<float>(variance, shape.parameters, column, sums[shape.channels + column]);
  });
}

__global__ void normalize_kernel(BatchNormShape shape, BatchNormInferenceForward memory, Dtype statistics) {
  const ColumnPlace place(shape.channels);
  if (place.column >= shape.channels) return;
  const float mean = load_as<float>(memory.mean, statistics, place.column);
  const float factor = load_as<float>(memory.gamma, shape.parameters, place.column) *
                       rsqrt_of(load_as<float>(memory.variance, statistics, place.column), shape.epsilon);
  const float beta = load_as<float>(memory.beta, shape.parameters, place.column);
  float x[rows_ahead];
  each_element<rows_ahead>(
      shape, place, [&](int k, std::int64_t, std::int64_t i) { x[k] = load_as<float>(memory.x, shape.dtype, i); },
      [&](int k, std::int64_t, std::int64_t i) {
        store_as<float>(memory.y, shape.dtype, i, (x[k] - mean) * factor + beta);
      });
}

__global__ void slopes_kernel(BatchNormShape shape, BatchNormBackward memory, float* sums) {
  const std::int64_t column = ColumnPlace(shape.channels).column;
  const float mean = column < shape.channels ? load_as<float>(memory.mean, shape.parameters, column) : 0.0F;
  constexpr int ahead = 3;
  float x[ahead], slope[ahead];
  sum_part<ahead>(
      shape, sums,
      [&](int k, std::int64_t, std::int64_t i) {
        x[k] = load_as<float>(memory.x, shape.dtype, i);
        slope[k] = load_as<float>(memory.dy, shape.dtype, i);
      },
      [&](int k) {
        return ColumnPair{slope[k], slope[k] * (x[k] - mean)};
      });
}

/// Leaves the sums of dy and of dy (x - mean) where the first part's were.
__global__ void parameters_kernel(BatchNormShape shape, BatchNormBackward memory, float* sums) {
  sum_parts(shape, sums, [&](std::int64_t column, const ColumnPair& total) {
    const float inverse = rsqrt_of(load_as<float>(memory.variance, shape.parameters, column), shape.epsilon);
    sums[column] = total.first;
    sums[shape.channels + column] = total.second;
    store_as<float>(memory.dbeta, shape.parameters, column, total.first);
    store_as<float>(memory.dgamma, shape.parameters, column, total.second * inverse);
  });
}

// dx = gamma / deviation (dy - mean(dy) - x_hat mean(dy x_hat))
__global__ void input_gradient_kernel(BatchNormShape shape, BatchNormBackward memory, const float* sums,
                                      bool statistics_depend_on_x) {
  const ColumnPlace place(shape.channels);
  if (place.column >= shape.channels) return;
  const float mean = load_as<float>(memory.mean, shape.parameters, place.column);
  const float inverse = rsqrt_of(load_as<float>(memory.variance, shape.parameters, place.column), shape.epsilon);
  const float factor = load_as<float>(memory.gamma, shape.parameters, place.column) * inverse;
  const float share = statistics_depend_on_x ? 1.0F / static_cast<float>(shape.rows) : 0.0F;
  const float offset = sums[place.column] * share;
  const float by_x = sums[shape.channels + place.column] * share * inverse * inverse;
  float centered[rows_ahead], slope[rows_ahead];
  each_element<rows_ahead>(
      shape, place,
      [&](int k, std::int64_t, std::int64_t i) {
        centered[k] = load_as<float>(memory.x, shape.dtype, i) - mean;
        slope[k] = load_as<float>(memory.dy, shape.dtype, i);
      },
      [&](int k, std::int64_t, std::int64_t i) {
        store_as<float>(memory.dx, shape.dtype, i, factor * (slope[k] - offset - centered[k] * by_x));
      });
}

}  // namespace

std::int64_t batch_norm_parts(std::int64_t rows, std::int64_t channels, int multiprocessors) {
  return column_parts(rows, channels, multiprocessors);
}

std::size_t batch_norm_workspace(const BatchNormShape& shape) {
  return column_sum_bytes(shape);
}

cudaError_t launch_batch_norm(const LaunchOn& on, const BatchNormShape& shape, const BatchNormForward& memory,
                              float* workspace) {
  if (shape.rows == 0 || shape.channels == 0) return cudaSuccess;
  cudaError_t status = launch(on, column_blocks(shape), block_threads, &moments_kernel, shape, memory.x, workspace);
  if (status != cudaSuccess) return status;
  status = launch(on, summing_blocks(shape), block_threads, &statistics_kernel, shape, memory.x, workspace, memory.mean,
                  memory.variance);
  if (status != cudaSuccess) return status;
  const BatchNormInferenceForward rest{memory.x, memory.gamma, memory.beta, workspace, workspace + shape.channels,
                                       memory.y};
  return launch(on, column_blocks(shape), block_threads, &normalize_kernel, shape, rest, Dtype::f32);
}

cudaError_t launch_batch_norm_inference(const LaunchOn& on, const BatchNormShape& shape,
                                        const BatchNormInferenceForward& memory) {
  if (shape.rows == 0 || shape.channels == 0) return cudaSuccess;
  return launch(on, column_blocks(shape), block_threads, &normalize_kernel, shape, memory, shape.parameters);
}

cudaError_t launch_batch_norm_gradient(const LaunchOn& on, const BatchNormShape& shape, const BatchNormBackward& memory,
                                       bool statistics_depend_on_x, float* workspace) {
  if (shape.channels == 0) return cudaSuccess;  // without rows the gradients of the parameters are 0
  cudaError_t status = launch(on, column_blocks(shape), block_threads, &slopes_kernel, shape, memory, workspace);
  if (status != cudaSuccess) return status;
  status = launch(on, summing_blocks(shape), block_threads, &parameters_kernel, shape, memory, workspace);
  if (status != cudaSuccess) return status;
  return launch(on, column_blocks(shape), block_threads, &input_gradient_kernel, shape, memory, workspace,
                statistics_depend_on_x);
}

}  // namespace gpubench::cuda
