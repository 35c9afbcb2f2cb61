// One thread per output element. Gradients gather: a thread adds the contributions of all windows over its element, in
// the same order in every run.
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/backend/cuda/kernels/pool.h"

namespace gpubench::cuda {
namespace {

/// The position of an element: the first elements of its image and of the image's result, and its indices inside.
struct Element {
  std::int64_t image, result;
  int row, column, channel;

  /// Element i of a tensor whose images are `height` x `width`.
  __device__ Element(const PoolGeometry& pool, std::int64_t i, int height, int width) {
    const std::int64_t in_batch = i / (height * width * pool.channels);
    const int in_image = static_cast<int>(i - in_batch * (height * width * pool.channels));
    image = in_batch * (pool.height * pool.width * pool.channels);
    result = in_batch * (pool.out_height * pool.out_width * pool.channels);
    channel = in_image % pool.channels;
    column = in_image / pool.channels % width;
    row = in_image / pool.channels / width;
  }
};

/// The part of a range of positions that a tensor has.
struct Range {
  int begin, end;
};

/// The part of an axis with `inputs` elements that window `at` covers.
__device__ inline Range covered(int at, int stride, int before, int size, int inputs) {
  const int begin = at * stride - before, end = begin + size;
  return {begin < 0 ? 0 : begin, end > inputs ? inputs : end};
}

/// The windows that cover element `at` of an axis.
__device__ inline Range covering(int at, int stride, int before, int size, int outputs) {
  const int last = (at + before) / stride, first_start = at + before - size + 1;
  const int first = first_start <= 0 ? 0 : (first_start + stride - 1) / stride;
  return {first, last + 1 > outputs ? outputs : last + 1};
}

/// body(offset of the window's element in x, its index in the window) for the elements inside the image, row by row.
template <class Body>
__device__ void for_window(const PoolGeometry& pool, const Element& at, const Body& body) {
  const Range rows = covered(at.row, pool.strides[0], pool.before[0], pool.size[0], pool.height);
  const Range columns = covered(at.column, pool.strides[1], pool.before[1], pool.size[1], pool.width);
  const int top = at.row * pool.strides[0] - pool.before[0], left = at.column * pool.strides[1] - pool.before[1];
  for (int row = rows.begin; row < rows.end; ++row) {
    for (int column = columns.begin; column < columns.end; ++column) {
      body(at.image + (row * pool.width + column) * pool.channels + at.channel,
           (row - top) * pool.size[1] + column - left);
    }
  }
}

/// body(offset of a result, row and column of its window) for the windows over an element.
template <class Body>
__device__ void for_windows_over(const PoolGeometry& pool, const Element& at, const Body& body) {
  const Range rows = covering(at.row, pool.strides[0], pool.before[0], pool.size[0], pool.out_height);
  const Range columns = covering(at.column, pool.strides[1], pool.before[1], pool.size[1], pool.out_width);
  for (int row = rows.begin; row < rows.end; ++row) {
    for (int column = columns.begin; column < columns.end; ++column) {
      body(at.result + (row * pool.out_width + column) * pool.channels + at.channel, row, column);
    }
  }
}

/// How many elements of the image a window covers.
__device__ inline float window_elements(const PoolGeometry& pool, int row, int column) {
  const Range rows = covered(row, pool.strides[0], pool.before[0], pool.size[0], pool.height);
  const Range columns = covered(column, pool.strides[1], pool.before[1], pool.size[1], pool.width);
  return static_cast<float>((rows.end - rows.begin) * (columns.end - columns.begin));
}

__device__ inline std::int64_t results(const PoolGeometry& pool) {
  return pool.batch * (pool.out_height * pool.out_width * pool.channels);
}
__device__ inline std::int64_t elements(const PoolGeometry& pool) {
  return pool.batch * (pool.height * pool.width * pool.channels);
}

__global__ void max_pool_kernel(PoolGeometry pool, void* y, void* winners, const void* x) {
  for (std::int64_t i = first_index(); i < results(pool); i += index_step()) {
    const Element at(pool, i, pool.out_height, pool.out_width);
    float best = 0;
    int winner = -1;
    for_window(pool, at, [&](std::int64_t from, int index) {
      const float value = load_as<float>(x, pool.dtype, from);
      if (winner >= 0 && value <= best) return;
      best = value;
      winner = index;
    });
    store_as<float>(y, pool.dtype, i, best);
    store_as<std::int64_t>(winners, pool.winner, i, winner);
  }
}

__global__ void max_pool_gradient_kernel(PoolGeometry pool, void* dx, const void* dy, const void* winners) {
  for (std::int64_t i = first_index(); i < elements(pool); i += index_step()) {
    const Element at(pool, i, pool.height, pool.width);
    float sum = 0;
    for_windows_over(pool, at, [&](std::int64_t from, int row, int column) {
      const int index = (at.row - (row * pool.strides[0] - pool.before[0])) * pool.size[1] + at.column -
                        (column * pool.strides[1] - pool.before[1]);
      if (load_as<std::int64_t>(winners, pool.winner, from) == index) sum += load_as<float>(dy, pool.dtype, from);
    });
    store_as<float>(dx, pool.dtype, i, sum);
  }
}

__global__ void average_pool_kernel(PoolGeometry pool, void* y, const void* x) {
  for (std::int64_t i = first_index(); i < results(pool); i += index_step()) {
    const Element at(pool, i, pool.out_height, pool.out_width);
    float sum = 0;
    for_window(pool, at, [&](std::int64_t from, int) { sum += load_as<float>(x, pool.dtype, from); });
    store_as<float>(y, pool.dtype, i, sum / window_elements(pool, at.row, at.column));
  }
}

__global__ void average_pool_gradient_kernel(PoolGeometry pool, void* dx, const void* dy) {
  for (std::int64_t i = first_index(); i < elements(pool); i += index_step()) {
    const Element at(pool, i, pool.height, pool.width);
    float sum = 0;
    for_windows_over(pool, at, [&](std::int64_t from, int row, int column) {
      sum += load_as<float>(dy, pool.dtype, from) / window_elements(pool, row, column);
    });
    store_as<float>(dx, pool.dtype, i, sum);
  }
}

std::int64_t result_elements(const PoolGeometry& pool) {
  return pool.batch * (pool.out_height * pool.out_width * pool.channels);
}
std::int64_t image_elements(const PoolGeometry& pool) {
  return pool.batch * (pool.height * pool.width * pool.channels);
}
bool is_empty(const PoolGeometry& pool) {
  return pool.batch == 0 || pool.channels == 0;
}

}  // namespace

cudaError_t launch_max_pool(const LaunchOn& on, const PoolGeometry& pool, void* y, void* winners, const void* x) {
  if (is_empty(pool)) return cudaSuccess;
  return launch_filling<&max_pool_kernel>(on, result_elements(pool), block_threads, pool, y, winners, x);
}

cudaError_t launch_max_pool_gradient(const LaunchOn& on, const PoolGeometry& pool, void* dx, const void* dy,
                                     const void* winners) {
  if (is_empty(pool)) return cudaSuccess;
  return launch_filling<&max_pool_gradient_kernel>(on, image_elements(pool), block_threads, pool, dx, dy, winners);
}

cudaError_t launch_average_pool(const LaunchOn& on, const PoolGeometry& pool, void* y, const void* x) {
  if (is_empty(pool)) return cudaSuccess;
  return launch_filling<&average_pool_kernel>(on, result_elements(pool), block_threads, pool, y, x);
}

cudaError_t launch_average_pool_gradient(const LaunchOn& on, const PoolGeometry& pool, void* dx, const void* dy) {
  if (is_empty(pool)) return cudaSuccess;
  return launch_filling<&average_pool_gradient_kernel>(on, image_elements(pool), block_threads, pool, dx, dy);
}

}  // namespace gpubench::cuda
