// A block has 32 columns: lanes read neighbours, and a thread, which keeps to its column, reads the column's parameters
// once, and has several rows in flight. Sums go from threads to parts in shared memory and from parts to columns in a
// second kernel.
#include <algorithm>

#include "core/backend/cuda/kernels/batch_norm.h"
#include "core/backend/cuda/kernels/elementwise.cuh"

namespace gpubench::cuda {
namespace {

constexpr int tile = 32;
constexpr int tile_rows = block_threads / tile;
/// Rows that a thread loads before it uses the first.
constexpr int rows_ahead = 4;

std::int64_t tiles_of(const BatchNormShape& shape) {
  return (shape.channels + tile - 1) / tile;
}

/// Which column a thread has, and which of its rows come first.
struct Place {
  std::int64_t column, part;
  int row;

  __device__ explicit Place(const BatchNormShape& shape) {
    const std::int64_t tiles = (shape.channels + tile - 1) / tile;
    column = blockIdx.x % tiles * tile + threadIdx.x % tile;
    part = blockIdx.x / tiles;
    row = static_cast<int>(threadIdx.x) / tile;
  }
};

struct Pair {
  float first, second;
};

/// Sums what each(index of an element) gives over a part of the rows; the workspace gets [part][first, second][column].
template <class Each>
__device__ void sum_part(const BatchNormShape& shape, float* sums, const Each& each) {
  __shared__ float shared[2][tile_rows][tile];
  const Place place(shape);
  Pair sum{0, 0};
  if (place.column < shape.channels) {
#pragma unroll rows_ahead
    for (std::int64_t row = place.part * tile_rows + place.row; row < shape.rows; row += shape.parts * tile_rows) {
      const Pair value = each(row * shape.channels + place.column);
      sum.first += value.first;
      sum.second += value.second;
    }
  }
  const int lane = static_cast<int>(threadIdx.x) % tile;
  shared[0][place.row][lane] = sum.first;
  shared[1][place.row][lane] = sum.second;
  __syncthreads();
  if (place.row > 1 || place.column >= shape.channels) return;
  float total = 0;
  for (int i = 0; i < tile_rows; ++i) total += shared[place.row][i][lane];
  sums[(place.part * 2 + place.row) * shape.channels + place.column] = total;
}

/// Adds up the parts of each column and calls store(column, total): a block has 32 columns, and its warps share the
/// parts out.
template <class Store>
__device__ void sum_parts(const BatchNormShape& shape, const float* sums, const Store& store) {
  __shared__ float shared[2][tile_rows][tile];
  const int lane = static_cast<int>(threadIdx.x) % tile, warp = static_cast<int>(threadIdx.x) / tile;
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * tile + lane;
  Pair total{0, 0};
  if (column < shape.channels) {
#pragma unroll rows_ahead
    for (std::int64_t part = warp; part < shape.parts; part += tile_rows) {
      total.first += sums[part * 2 * shape.channels + column];
      total.second += sums[(part * 2 + 1) * shape.channels + column];
    }
  }
  shared[0][warp][lane] = total.first;
  shared[1][warp][lane] = total.second;
  __syncthreads();
  if (warp > 0 || column >= shape.channels) return;
  for (int i = 1; i < tile_rows; ++i) {
    total.first += shared[0][i][lane];
    total.second += shared[1][i][lane];
  }
  store(column, total);
}

/// Calls load(k, index) for several of the thread's elements, then store(k, index) for the same: the compiler cannot
/// know that what is stored is nothing that is loaded next.
template <class Load, class Store>
__device__ void each_element(const BatchNormShape& shape, const Place& place, const Load& load, const Store& store) {
  const std::int64_t step = shape.parts * tile_rows;
  for (std::int64_t first = place.part * tile_rows + place.row; first < shape.rows; first += step * rows_ahead) {
#pragma unroll
    for (int k = 0; k < rows_ahead; ++k) {
      const std::int64_t row = first + k * step;
      if (row < shape.rows) load(k, row * shape.channels + place.column);
    }
#pragma unroll
    for (int k = 0; k < rows_ahead; ++k) {
      const std::int64_t row = first + k * step;
      if (row < shape.rows) store(k, row * shape.channels + place.column);
    }
  }
}

__device__ inline float rsqrt_of(float variance, float epsilon) {
  return 1.0F / sqrtf(variance + epsilon);
}

// Moments of x minus the first row, so that a large mean does not cancel the variance.
__global__ void moments_kernel(BatchNormShape shape, const void* x, float* sums) {
  const std::int64_t column = Place(shape).column;
  const float shift = column < shape.channels ? load_as<float>(x, shape.dtype, column) : 0.0F;
  sum_part(shape, sums, [&](std::int64_t i) {
    const float centered = load_as<float>(x, shape.dtype, i) - shift;
    return Pair{centered, centered * centered};
  });
}

/// Leaves mean and variance where the first part's sums were, as they are before they are rounded.
__global__ void statistics_kernel(BatchNormShape shape, const void* x, float* sums, void* mean, void* variance) {
  sum_parts(shape, sums, [&](std::int64_t column, const Pair& total) {
    const float count = static_cast<float>(shape.rows), offset = total.first / count;
    const float spread = total.second / count - offset * offset;
    sums[column] = load_as<float>(x, shape.dtype, column) + offset;
    sums[shape.channels + column] = spread > 0.0F ? spread : 0.0F;
    store_as<float>(mean, shape.parameters, column, sums[column]);
    store_as<float>(variance, shape.parameters, column, sums[shape.channels + column]);
  });
}

__global__ void normalize_kernel(BatchNormShape shape, BatchNormInferenceForward memory, Dtype statistics) {
  const Place place(shape);
  if (place.column >= shape.channels) return;
  const float mean = load_as<float>(memory.mean, statistics, place.column);
  const float factor = load_as<float>(memory.gamma, shape.parameters, place.column) *
                       rsqrt_of(load_as<float>(memory.variance, statistics, place.column), shape.epsilon);
  const float beta = load_as<float>(memory.beta, shape.parameters, place.column);
  float x[rows_ahead];
  each_element(
      shape, place, [&](int k, std::int64_t i) { x[k] = load_as<float>(memory.x, shape.dtype, i); },
      [&](int k, std::int64_t i) { store_as<float>(memory.y, shape.dtype, i, (x[k] - mean) * factor + beta); });
}

__global__ void slopes_kernel(BatchNormShape shape, BatchNormBackward memory, float* sums) {
  const std::int64_t column = Place(shape).column;
  const float mean = column < shape.channels ? load_as<float>(memory.mean, shape.parameters, column) : 0.0F;
  sum_part(shape, sums, [&](std::int64_t i) {
    const float slope = load_as<float>(memory.dy, shape.dtype, i);
    return Pair{slope, slope * (load_as<float>(memory.x, shape.dtype, i) - mean)};
  });
}

/// Leaves the sums of dy and of dy (x - mean) where the first part's were.
__global__ void parameters_kernel(BatchNormShape shape, BatchNormBackward memory, float* sums) {
  sum_parts(shape, sums, [&](std::int64_t column, const Pair& total) {
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
  const Place place(shape);
  if (place.column >= shape.channels) return;
  const float mean = load_as<float>(memory.mean, shape.parameters, place.column);
  const float inverse = rsqrt_of(load_as<float>(memory.variance, shape.parameters, place.column), shape.epsilon);
  const float factor = load_as<float>(memory.gamma, shape.parameters, place.column) * inverse;
  const float share = statistics_depend_on_x ? 1.0F / static_cast<float>(shape.rows) : 0.0F;
  const float offset = sums[place.column] * share;
  const float by_x = sums[shape.channels + place.column] * share * inverse * inverse;
  float centered[rows_ahead], slope[rows_ahead];
  each_element(
      shape, place,
      [&](int k, std::int64_t i) {
        centered[k] = load_as<float>(memory.x, shape.dtype, i) - mean;
        slope[k] = load_as<float>(memory.dy, shape.dtype, i);
      },
      [&](int k, std::int64_t i) {
        store_as<float>(memory.dx, shape.dtype, i, factor * (slope[k] - offset - centered[k] * by_x));
      });
}

unsigned tile_blocks(const BatchNormShape& shape) {
  return static_cast<unsigned>(tiles_of(shape) * shape.parts);
}

}  // namespace

std::int64_t batch_norm_parts(std::int64_t rows, std::int64_t channels, int multiprocessors) {
  constexpr std::int64_t blocks_per_multiprocessor = 8, rows_per_thread = 4;
  const std::int64_t tiles = std::max<std::int64_t>(1, (channels + tile - 1) / tile);
  const std::int64_t most = std::max<std::int64_t>(1, rows / (tile_rows * rows_per_thread));
  return std::clamp<std::int64_t>(multiprocessors * blocks_per_multiprocessor / tiles, 1, most);
}

std::size_t batch_norm_workspace(const BatchNormShape& shape) {
  return static_cast<std::size_t>(shape.parts * 2 * shape.channels) * sizeof(float);
}

cudaError_t launch_batch_norm(const LaunchOn& on, const BatchNormShape& shape, const BatchNormForward& memory,
                              float* workspace) {
  if (shape.rows == 0 || shape.channels == 0) return cudaSuccess;
  cudaError_t status = launch(on, tile_blocks(shape), block_threads, &moments_kernel, shape, memory.x, workspace);
  if (status != cudaSuccess) return status;
  status = launch(on, static_cast<unsigned>(tiles_of(shape)), block_threads, &statistics_kernel, shape, memory.x,
                  workspace, memory.mean, memory.variance);
  if (status != cudaSuccess) return status;
  const BatchNormInferenceForward rest{memory.x, memory.gamma, memory.beta, workspace, workspace + shape.channels,
                                       memory.y};
  return launch(on, tile_blocks(shape), block_threads, &normalize_kernel, shape, rest, Dtype::f32);
}

cudaError_t launch_batch_norm_inference(const LaunchOn& on, const BatchNormShape& shape,
                                        const BatchNormInferenceForward& memory) {
  if (shape.rows == 0 || shape.channels == 0) return cudaSuccess;
  return launch(on, tile_blocks(shape), block_threads, &normalize_kernel, shape, memory, shape.parameters);
}

cudaError_t launch_batch_norm_gradient(const LaunchOn& on, const BatchNormShape& shape, const BatchNormBackward& memory,
                                       bool statistics_depend_on_x, float* workspace) {
  if (shape.channels == 0) return cudaSuccess;  // without rows the gradients of the parameters are 0
  cudaError_t status = launch(on, tile_blocks(shape), block_threads, &slopes_kernel, shape, memory, workspace);
  if (status != cudaSuccess) return status;
  status =
      launch(on, static_cast<unsigned>(tiles_of(shape)), block_threads, &parameters_kernel, shape, memory, workspace);
  if (status != cudaSuccess) return status;
  return launch(on, tile_blocks(shape), block_threads, &input_gradient_kernel, shape, memory, workspace,
                statistics_depend_on_x);
}

}  // namespace gpubench::cuda
