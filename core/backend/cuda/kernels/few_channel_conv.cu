// A warp has 32 filters and one position. With a pool it loads what that position reads of the image once; in the
// gradient, loads of the image are the same for all lanes. Those of filters and results are of neighbours.
#include "core/backend/cuda/kernels/column_sums.cuh"
#include "core/backend/cuda/kernels/few_channel_conv.h"
#include "core/math/functions.h"

namespace gpubench::cuda {
namespace {

/// Where a result lies: its image, its row and its column.
struct Position {
  int image, row, column;

  __device__ Position(unsigned at, int height, int width) {
    const unsigned line = at / static_cast<unsigned>(width);
    column = static_cast<int>(at - line * static_cast<unsigned>(width));
    image = static_cast<int>(line / static_cast<unsigned>(height));
    row = static_cast<int>(line) - image * height;
  }
};

/// The filter's rows, by tap: the place of the element that a tap reads, relative to the window's first.
class Taps {
 public:
  /// By all threads of the block; they must meet before they use it.
  __device__ void fill(const FewChannelConv& conv, int taps) {
    for (int tap = static_cast<int>(threadIdx.x); tap < taps; tap += static_cast<int>(blockDim.x)) {
      const int place = tap / conv.channels;
      row_[tap] = place / conv.size[1] * conv.dilations[0];
      column_[tap] = place % conv.size[1] * conv.dilations[1];
      offset_[tap] = (row_[tap] * conv.width + column_[tap]) * conv.channels + tap % conv.channels;
    }
  }
  __device__ int row(int tap) const { return fresh(row_[tap]); }
  __device__ int column(int tap) const { return fresh(column_[tap]); }
  __device__ int offset(int tap) const { return fresh(offset_[tap]); }

 private:
  /// Loaded each time: the compiler would keep all of them in registers, of which sums take as many.
  __device__ static int fresh(const volatile int& value) { return value; }

  int row_[most_taps], column_[most_taps], offset_[most_taps];
};

/// The first element of a convolution's window, which padding may place outside of the image.
struct Window {
  int top, left;
  bool inside;         // all of it
  std::int64_t first;  // index of that element

  __device__ Window(const FewChannelConv& conv, int image, int row, int column)
      : top(row * conv.strides[0] - conv.before[0]), left(column * conv.strides[1] - conv.before[1]) {
    inside = top >= 0 && top + (conv.size[0] - 1) * conv.dilations[0] < conv.height && left >= 0 &&
             left + (conv.size[1] - 1) * conv.dilations[1] < conv.width;
    first = (static_cast<std::int64_t>(image) * conv.height + top) * conv.width * conv.channels +
            static_cast<std::int64_t>(left) * conv.channels;
  }
  __device__ bool has(const FewChannelConv& conv, const Taps& taps, int tap) const {
    if (inside) return true;
    const int row = top + taps.row(tap), column = left + taps.column(tap);
    return row >= 0 && row < conv.height && column >= 0 && column < conv.width;
  }
};

__device__ inline float activated(PooledActivation activation, float x) {
  switch (activation) {
    case PooledActivation::relu:
      return math::Relu()(x);
    case PooledActivation::sigmoid:
      return math::Sigmoid()(x);
    case PooledActivation::tanh:
      return math::Tanh()(x);
    default:
      return x;
  }
}

/// Where the elements of a patch lie in the image, relative to its first, and where a tap finds its own in the patch.
class PatchTable {
 public:
  /// By all threads of the block; they must meet before they use it.
  __device__ void fill(const FewChannelConv& conv, int columns, int elements, int taps) {
    const int row_elements = columns * conv.channels;
    for (int i = static_cast<int>(threadIdx.x); i < elements; i += static_cast<int>(blockDim.x)) {
      row_[i] = i / row_elements;
      column_[i] = i % row_elements / conv.channels;
      offset_[i] = row_[i] * conv.width * conv.channels + i % row_elements;
    }
    for (int tap = static_cast<int>(threadIdx.x); tap < taps; tap += static_cast<int>(blockDim.x)) {
      const int place = tap / conv.channels;
      tap_[tap] = (place / conv.size[1] * conv.dilations[0] * columns + place % conv.size[1] * conv.dilations[1]) *
                      conv.channels +
                  tap % conv.channels;
    }
  }
  /// Of a patch whose first element is image[first], in this row and column.
  template <class T>
  __device__ float load(const FewChannelConv& conv, const T* image, std::int64_t first, int top, int left,
                        int i) const {
    const int row = top + row_[i], column = left + column_[i];
    const bool inside = row >= 0 && row < conv.height && column >= 0 && column < conv.width;
    return inside ? widen(image[first + offset_[i]]) : 0.0F;
  }
  __device__ int tap(int index) const { return tap_[index]; }

 private:
  int row_[most_patch_elements], column_[most_patch_elements], offset_[most_patch_elements];
  int tap_[most_taps];
};

/// A warp computes the convolution's results below one window of the pool together: it loads the patch of the image
/// that they share once, into shared memory.
template <class T>
__global__ void conv_max_pool_kernel(const __grid_constant__ FewChannelConv conv,
                                     const __grid_constant__ PoolGeometry pool, PooledActivation activation,
                                     unsigned positions, unsigned parts, int taps, int patch_columns,
                                     int patch_elements, T* y, std::uint8_t* winners, const T* x, const T* filter,
                                     const T* bias) {
  __shared__ float weights[most_taps][column_tile];
  __shared__ float patches[column_tile_rows][most_patch_elements];
  __shared__ PatchTable table;
  const ColumnPlace place(conv.filters);
  const int lane = static_cast<int>(threadIdx.x) % column_tile;
  const bool has_filter = place.column < conv.filters;
  table.fill(conv, patch_columns, patch_elements, taps);
  for (int tap = place.row; tap < taps; tap += column_tile_rows) {
    weights[tap][lane] = has_filter ? widen(filter[tap * conv.filters + place.column]) : 0.0F;
  }
  __syncthreads();
  const float start = bias == nullptr || !has_filter ? 0.0F : widen(bias[place.column]);
  const int window = pool.size[0] * pool.size[1];
  // Of each element of the window: its place there, and where its taps begin in the patch.
  int rows[most_window_elements], columns[most_window_elements], within[most_window_elements];
#pragma unroll
  for (int i = 0; i < most_window_elements; ++i) {
    rows[i] = i < window ? i / pool.size[1] : 0;
    columns[i] = i < window ? i % pool.size[1] : 0;
    within[i] = (rows[i] * conv.strides[0] * patch_columns + columns[i] * conv.strides[1]) * conv.channels;
  }
  float* const patch = patches[place.row];
  for (unsigned at = static_cast<unsigned>(place.part) * column_tile_rows + place.row; at < positions;
       at += parts * column_tile_rows) {
    const Position position(at, pool.out_height, pool.out_width);
    const int top = position.row * pool.strides[0] - pool.before[0];
    const int left = position.column * pool.strides[1] - pool.before[1];
    const int image_top = top * conv.strides[0] - conv.before[0];
    const int image_left = left * conv.strides[1] - conv.before[1];
    const std::int64_t first =
        (static_cast<std::int64_t>(position.image) * conv.height + image_top) * conv.width * conv.channels +
        static_cast<std::int64_t>(image_left) * conv.channels;
    __syncwarp();  // the patch before this one has been read
    for (int i = lane; i < patch_elements; i += column_tile) {
      patch[i] = table.load(conv, x, first, image_top, image_left, i);
    }
    __syncwarp();
    float sum[most_window_elements];
#pragma unroll
    for (float& each : sum) each = start;
    for (int tap = 0; tap < taps; ++tap) {
      const float weight = weights[tap][lane];
      const float* const elements = patch + table.tap(tap);
#pragma unroll
      for (int i = 0; i < most_window_elements; ++i) sum[i] += weight * elements[within[i]];
    }
    float best = 0;
    int winner = -1;
#pragma unroll
    for (int i = 0; i < most_window_elements; ++i) {
      const int row = top + rows[i], column = left + columns[i];
      if (i >= window || row < 0 || row >= pool.height || column < 0 || column >= pool.width) continue;
      const float value = widen(Narrow<T>::from(activated(activation, sum[i])));
      if (winner >= 0 && value <= best) continue;
      best = value;
      winner = i;
    }
    if (!has_filter) continue;
    const std::int64_t to = static_cast<std::int64_t>(at) * conv.filters + place.column;
    y[to] = Narrow<T>::from(best);
    winners[to] = static_cast<std::uint8_t>(winner);
  }
}

/// `sums` gets [part][tap][filter]. dy is of the pool's result where there are winners, else of the convolution's.
template <class T, bool pooled, int taps_held>
__global__ void __launch_bounds__(block_threads, 3)
    filter_sums_kernel(const __grid_constant__ FewChannelConv conv, const __grid_constant__ PoolGeometry pool,
                       unsigned positions, unsigned parts, int taps, float* sums, const T* x, const T* dy,
                       const std::uint8_t* winners) {
  __shared__ Taps table;
  __shared__ float shared[column_tile_rows][column_tile];
  table.fill(conv, taps);
  __syncthreads();
  const ColumnPlace place(conv.filters);
  const int lane = static_cast<int>(threadIdx.x) % column_tile;
  const bool has_filter = place.column < conv.filters;
  float sum[taps_held] = {};
  for (unsigned at = static_cast<unsigned>(place.part) * column_tile_rows + place.row; has_filter && at < positions;
       at += parts * column_tile_rows) {
    const std::int64_t from = static_cast<std::int64_t>(at) * conv.filters + place.column;
    float slope = widen(dy[from]);
    Position position(at, pooled ? pool.out_height : conv.out_height, pooled ? pool.out_width : conv.out_width);
    if constexpr (pooled) {
      const int winner = winners[from];
      position.row = position.row * pool.strides[0] - pool.before[0] + winner / pool.size[1];
      position.column = position.column * pool.strides[1] - pool.before[1] + winner % pool.size[1];
      const bool is_there = position.row >= 0 && position.row < conv.out_height && position.column >= 0 &&
                            position.column < conv.out_width;
      if (!is_there) slope = 0;  // as where nothing won
    }
    const Window window(conv, position.image, position.row, position.column);
#pragma unroll
    for (int tap = 0; tap < taps_held; ++tap) {
      if (tap < taps && window.has(conv, table, tap)) sum[tap] += slope * widen(x[window.first + table.offset(tap)]);
    }
  }
#pragma unroll
  for (int tap = 0; tap < taps_held; ++tap) {
    if (tap >= taps) continue;
    shared[place.row][lane] = sum[tap];
    __syncthreads();
    if (place.row == 0 && has_filter) {
      float total = 0;
      for (int row = 0; row < column_tile_rows; ++row) total += shared[row][lane];
      sums[(place.part * taps + tap) * conv.filters + place.column] = total;
    }
    __syncthreads();
  }
}

/// Adds up the parts of each element of the filter; a block has 32 elements, and its warps share the parts out.
template <class T>
__global__ void filter_total_kernel(std::int64_t elements, unsigned parts, T* dfilter, const float* sums) {
  __shared__ float shared[column_tile_rows][column_tile];
  const int lane = static_cast<int>(threadIdx.x) % column_tile, warp = static_cast<int>(threadIdx.x) / column_tile;
  const std::int64_t element = static_cast<std::int64_t>(blockIdx.x) * column_tile + lane;
  float total = 0;
  if (element < elements) {
#pragma unroll parts_ahead
    for (unsigned part = static_cast<unsigned>(warp); part < parts; part += column_tile_rows) {
      total += sums[part * elements + element];
    }
  }
  shared[warp][lane] = total;
  __syncthreads();
  if (warp > 0 || element >= elements) return;
  for (int row = 1; row < column_tile_rows; ++row) total += shared[row][lane];
  dfilter[element] = Narrow<T>::from(total);
}

std::int64_t positions_of(const FewChannelConv& conv) {
  return conv.batch * conv.out_height * conv.out_width;
}
std::int64_t positions_of(const PoolGeometry& pool) {
  return pool.batch * pool.out_height * pool.out_width;
}

template <class T, bool pooled>
cudaError_t launch_filter_sums(const LaunchOn& on, const FewChannelConv& conv, const PoolGeometry& pool, void* dfilter,
                               float* sums, const void* x, const void* dy, const std::uint8_t* winners) {
  const std::int64_t positions = pooled ? positions_of(pool) : positions_of(conv);
  const std::int64_t parts = column_parts(positions, conv.filters, on.multiprocessors);
  const int taps = conv.taps();
  constexpr int few_taps = 12;  // 3 x 3 of a grey image, with fewer registers
  const auto kernel =
      taps <= few_taps ? &filter_sums_kernel<T, pooled, few_taps> : &filter_sums_kernel<T, pooled, most_taps>;
  const auto blocks = static_cast<unsigned>(column_tiles(conv.filters) * parts);
  const cudaError_t status =
      launch(on, blocks, block_threads, kernel, conv, pool, static_cast<unsigned>(positions),
             static_cast<unsigned>(parts), taps, sums, static_cast<const T*>(x), static_cast<const T*>(dy), winners);
  if (status != cudaSuccess) return status;
  const std::int64_t elements = std::int64_t{taps} * conv.filters;
  return launch(on, static_cast<unsigned>(column_tiles(elements)), block_threads, &filter_total_kernel<T>, elements,
                static_cast<unsigned>(parts), static_cast<T*>(dfilter), static_cast<const float*>(sums));
}

}  // namespace

cudaError_t launch_conv_max_pool(const LaunchOn& on, const FewChannelConv& conv, const PoolGeometry& pool,
                                 PooledActivation activation, void* y, std::uint8_t* winners, const void* x,
                                 const void* filter, const void* bias) {
  const std::int64_t positions = positions_of(pool);
  const std::int64_t parts = column_parts(positions, conv.filters, on.multiprocessors);
  const PooledPatch patch(conv, pool.size[0], pool.size[1]);
  return with_floating(conv.dtype, [&]<class T>(T) {
    return launch(on, static_cast<unsigned>(column_tiles(conv.filters) * parts), block_threads,
                  &conv_max_pool_kernel<T>, conv, pool, activation, static_cast<unsigned>(positions),
                  static_cast<unsigned>(parts), conv.taps(), static_cast<int>(patch.columns),
                  static_cast<int>(patch.elements(conv)), static_cast<T*>(y), winners, static_cast<const T*>(x),
                  static_cast<const T*>(filter), static_cast<const T*>(bias));
  });
}

std::size_t filter_sum_bytes(const FewChannelConv& conv, std::int64_t positions, int multiprocessors) {
  const std::int64_t parts = column_parts(positions, conv.filters, multiprocessors);
  return static_cast<std::size_t>(parts * conv.taps() * conv.filters) * sizeof(float);
}

cudaError_t launch_filter_gradient(const LaunchOn& on, const FewChannelConv& conv, void* dfilter, float* sums,
                                   const void* x, const void* dy) {
  return launch_filter_sums<float, false>(on, conv, {}, dfilter, sums, x, dy, nullptr);
}

cudaError_t launch_pooled_filter_gradient(const LaunchOn& on, const FewChannelConv& conv, const PoolGeometry& pool,
                                          void* dfilter, float* sums, const void* x, const void* dy,
                                          const std::uint8_t* winners) {
  return with_floating(conv.dtype, [&]<class T>(T) {
    return launch_filter_sums<T, true>(on, conv, pool, dfilter, sums, x, dy, winners);
  });
}

}  // namespace gpubench::cuda
