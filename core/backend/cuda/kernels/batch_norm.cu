// Statistics and gradients of the parameters are sums over columns (column_sums.cuh); what is computed per element
// keeps the same tiles, so that a thread reads its columns' parameters once.
#include "core/backend/cuda/kernels/batch_norm.h"
#include "core/backend/cuda/kernels/column_sums.cuh"

namespace gpubench::cuda {
namespace {

__device__ inline float rsqrt_of(float variance, float epsilon) {
  return 1.0F / sqrtf(variance + epsilon);
}

/// Whether relu's result is positive once it is rounded to T: half of float16's least number becomes 0.
template <class T>
__device__ bool is_positive(float value) {
  constexpr float least = std::is_same_v<T, math::Float16> ? 0x1p-25F : 0.0F;
  return value > least;
}

/// The slope of what is normalized, from that of relu(normalized).
template <class T, int pack>
__device__ void undo_relu(Pack<float, pack>& slope, const Pack<float, pack>& x, const Pack<float, pack>& mean,
                          const Pack<float, pack>& factor, const Pack<float, pack>& beta) {
#pragma unroll
  for (int j = 0; j < pack; ++j) {
    const float y = (x.values[j] - mean.values[j]) * factor.values[j] + beta.values[j];
    if (!is_positive<T>(y)) slope.values[j] = 0.0F;
  }
}

/// gamma / deviation of a thread's columns.
template <int pack>
__device__ Pack<float, pack> factor_of(const BatchNormShape& shape, const BatchNormBackward& memory,
                                       std::int64_t column) {
  const Pack<float, pack> variance = load_pack<pack>(memory.variance, shape.parameters, column);
  Pack<float, pack> factor = load_pack<pack>(memory.gamma, shape.parameters, column);
#pragma unroll
  for (int j = 0; j < pack; ++j) factor.values[j] *= rsqrt_of(variance.values[j], shape.epsilon);
  return factor;
}

// Moments of x minus the first row, so that a large mean does not cancel the variance.
template <class T, int pack>
__global__ void moments_kernel(BatchNormShape shape, const void* x, float* sums) {
  const ColumnPlace place(shape.channels, tile_of(shape.channels, pack));
  constexpr int ahead = pack == 1 ? 5 : 3;
  Stored<T, pack> first{}, loaded[ahead];
  if (place.column < shape.channels) first.load(x, place.column);
  sum_part<pack, ahead>(
      shape, place, sums, [&](int k, std::int64_t, std::int64_t i) { loaded[k].load(x, i); },
      [&](int k, std::int64_t, ColumnPair* sum) {
        const Pack<float, pack> value = loaded[k].values(), shift = first.values();
#pragma unroll
        for (int j = 0; j < pack; ++j) {
          const float centered = value.values[j] - shift.values[j];
          sum[j].first += centered;
          sum[j].second += centered * centered;
        }
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

// What shortcuts and relu need is in instances of their own: plain normalization keeps the registers that it has.
template <class T, bool shortcut, int pack>
__global__ void normalize_kernel(BatchNormShape shape, BatchNormInferenceForward memory, Dtype statistics) {
  const ColumnPlace place(shape.channels, tile_of(shape.channels, pack));
  if (place.column >= shape.channels) return;
  const Pack<float, pack> mean = load_pack<pack>(memory.mean, statistics, place.column);
  const Pack<float, pack> variance = load_pack<pack>(memory.variance, statistics, place.column);
  const Pack<float, pack> beta = load_pack<pack>(memory.beta, shape.parameters, place.column);
  Pack<float, pack> factor = load_pack<pack>(memory.gamma, shape.parameters, place.column);
#pragma unroll
  for (int j = 0; j < pack; ++j) factor.values[j] *= rsqrt_of(variance.values[j], shape.epsilon);
  constexpr int ahead = pack == 1 ? 4 : 3;
  Stored<T, pack> x[ahead], added[shortcut ? ahead : 1];
  each_pack<ahead>(
      shape, place,
      [&](int k, std::int64_t, std::int64_t i) {
        x[k].load(memory.x, i);
        if constexpr (shortcut) added[k].load(memory.shortcut, i);
      },
      [&](int k, std::int64_t, std::int64_t i) {
        Pack<float, pack> y = x[k].values();
#pragma unroll
        for (int j = 0; j < pack; ++j) {
          y.values[j] = (y.values[j] - mean.values[j]) * factor.values[j] + beta.values[j];
        }
        if constexpr (shortcut) {
          const Pack<float, pack> term = added[k].values();
#pragma unroll
          for (int j = 0; j < pack; ++j) y.values[j] += term.values[j];
        }
        if (memory.relu) {
#pragma unroll
          for (int j = 0; j < pack; ++j) y.values[j] = y.values[j] < 0.0F ? 0.0F : y.values[j];  // NaN stays
        }
        store_pack_of<T>(memory.y, i, y);
      });
}

/// From what the gradient takes the sign of relu's argument: x, or y where a shortcut was added to it.
enum class ReluBy : std::uint8_t { none, x, y };

/// Blocks of slopes_kernel that a multiprocessor holds. Left alone, the compiler takes registers for relu until fewer
/// fit.
constexpr int blocks_of_slopes(ReluBy relu, int pack) {
  if (pack == 8) return relu == ReluBy::none ? 4 : 3;
  return pack == 4 ? 4 : 6;
}

template <class T, ReluBy relu, int pack>
__global__ void __launch_bounds__(block_threads, blocks_of_slopes(relu, pack))
    slopes_kernel(BatchNormShape shape, BatchNormBackward memory, float* sums) {
  const ColumnPlace place(shape.channels, tile_of(shape.channels, pack));
  Pack<float, pack> mean{}, factor{}, beta{};
  if (place.column < shape.channels) {
    mean = load_pack<pack>(memory.mean, shape.parameters, place.column);
    if constexpr (relu == ReluBy::x) {
      factor = factor_of<pack>(shape, memory, place.column);
      beta = load_pack<pack>(memory.beta, shape.parameters, place.column);
    }
  }
  constexpr int ahead = pack == 1 ? 3 : 2;
  Stored<T, pack> x[ahead], dy[ahead], y[relu == ReluBy::y ? ahead : 1];
  sum_part<pack, ahead>(
      shape, place, sums,
      [&](int k, std::int64_t, std::int64_t i) {
        x[k].load(memory.x, i);
        dy[k].load(memory.dy, i);
        if constexpr (relu == ReluBy::y) y[k].load(memory.y, i);
      },
      [&](int k, std::int64_t i, ColumnPair* sum) {
        const Pack<float, pack> value = x[k].values();
        Pack<float, pack> slope = dy[k].values();
        if constexpr (relu == ReluBy::x) undo_relu<T>(slope, value, mean, factor, beta);
        if constexpr (relu == ReluBy::y) {
          const Pack<float, pack> result = y[k].values();
#pragma unroll
          for (int j = 0; j < pack; ++j) slope.values[j] = result.values[j] > 0.0F ? slope.values[j] : 0.0F;
          store_pack_of<T>(memory.dshortcut, i, slope);
        }
#pragma unroll
        for (int j = 0; j < pack; ++j) {
          sum[j].first += slope.values[j];
          sum[j].second += slope.values[j] * (value.values[j] - mean.values[j]);
        }
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
template <class T, bool relu, int pack>
__global__ void __launch_bounds__(block_threads, pack == 8   ? 3
                                                 : pack == 4 ? 4
                                                             : 5)
    input_gradient_kernel(BatchNormShape shape, BatchNormBackward memory, const float* sums,
                          bool statistics_depend_on_x) {
  const ColumnPlace place(shape.channels, tile_of(shape.channels, pack));
  if (place.column >= shape.channels) return;
  const float share = statistics_depend_on_x ? 1.0F / static_cast<float>(shape.rows) : 0.0F;
  const Pack<float, pack> mean = load_pack<pack>(memory.mean, shape.parameters, place.column);
  const Pack<float, pack> variance = load_pack<pack>(memory.variance, shape.parameters, place.column);
  Pack<float, pack> factor = load_pack<pack>(memory.gamma, shape.parameters, place.column);
  Pack<float, pack> offset = load_pack_of<float, pack>(sums, place.column), beta{};
  Pack<float, pack> by_x = load_pack_of<float, pack>(sums, shape.channels + place.column);
  if constexpr (relu) beta = load_pack<pack>(memory.beta, shape.parameters, place.column);
#pragma unroll
  for (int j = 0; j < pack; ++j) {
    const float inverse = rsqrt_of(variance.values[j], shape.epsilon);
    factor.values[j] *= inverse;
    offset.values[j] *= share;
    by_x.values[j] *= share * inverse * inverse;
  }
  constexpr int ahead = pack == 1 ? 4 : 2;
  Stored<T, pack> x[ahead], dy[ahead];
  each_pack<ahead>(
      shape, place,
      [&](int k, std::int64_t, std::int64_t i) {
        x[k].load(memory.x, i);
        dy[k].load(memory.dy, i);
      },
      [&](int k, std::int64_t, std::int64_t i) {
        const Pack<float, pack> value = x[k].values();
        Pack<float, pack> dx = dy[k].values();
        if constexpr (relu) undo_relu<T>(dx, value, mean, factor, beta);
#pragma unroll
        for (int j = 0; j < pack; ++j) {
          const float centered = value.values[j] - mean.values[j];
          dx.values[j] = factor.values[j] * (dx.values[j] - offset.values[j] - centered * by_x.values[j]);
        }
        store_pack_of<T>(memory.dx, i, dx);
      });
}

/// A kernel of the loops over rows, with the parts that fill the GPU.
template <auto kernel, class... Arguments>
cudaError_t launch_columns(const LaunchOn& on, const BatchNormShape& shape, Arguments... arguments) {
  const BatchNormShape filled = filling<kernel>(on, shape);
  return launch(on, column_blocks(filled), block_threads, kernel, filled, arguments...);
}

template <class T, int pack>
cudaError_t launch_normalize(const LaunchOn& on, const BatchNormShape& shape, const BatchNormInferenceForward& memory,
                             Dtype statistics) {
  return memory.shortcut != nullptr ? launch_columns<&normalize_kernel<T, true, pack>>(on, shape, memory, statistics)
                                    : launch_columns<&normalize_kernel<T, false, pack>>(on, shape, memory, statistics);
}

template <class T, ReluBy relu, int pack>
cudaError_t launch_gradient(const LaunchOn& on, const BatchNormShape& shape, const BatchNormBackward& memory,
                            bool statistics_depend_on_x, float* workspace) {
  const BatchNormShape filled = filling<&slopes_kernel<T, relu, pack>>(on, shape);
  cudaError_t status =
      launch(on, column_blocks(filled), block_threads, &slopes_kernel<T, relu, pack>, filled, memory, workspace);
  if (status != cudaSuccess) return status;
  status = launch(on, summing_blocks(filled), block_threads, &parameters_kernel, filled, memory, workspace);
  if (status != cudaSuccess) return status;
  BatchNormBackward rest = memory;
  if (relu == ReluBy::y) rest.dy = memory.dshortcut;  // without what relu cut off
  return launch_columns<&input_gradient_kernel<T, relu == ReluBy::x, pack>>(
      on, shape, rest, static_cast<const float*>(workspace), statistics_depend_on_x);
}

}  // namespace

std::int64_t batch_norm_parts(const BatchNormShape& shape, int multiprocessors) {
  return column_parts(shape.rows, shape.channels, multiprocessors, tile_of(shape));
}

std::size_t batch_norm_workspace(const BatchNormShape& shape) {
  return column_sum_bytes(shape);
}

cudaError_t launch_batch_norm(const LaunchOn& on, const BatchNormShape& shape, const BatchNormForward& memory,
                              float* workspace) {
  if (shape.rows == 0 || shape.channels == 0) return cudaSuccess;
  return with_packs(shape, [&]<class T, int pack>() {
    const BatchNormShape filled = filling<&moments_kernel<T, pack>>(on, shape);
    cudaError_t status =
        launch(on, column_blocks(filled), block_threads, &moments_kernel<T, pack>, filled, memory.x, workspace);
    if (status != cudaSuccess) return status;
    status = launch(on, summing_blocks(filled), block_threads, &statistics_kernel, filled, memory.x, workspace,
                    memory.mean, memory.variance);
    if (status != cudaSuccess) return status;
    const BatchNormInferenceForward rest{memory.x, memory.gamma,    memory.beta, workspace, workspace + shape.channels,
                                         memory.y, memory.shortcut, memory.relu};
    return launch_normalize<T, pack>(on, shape, rest, Dtype::f32);
  });
}

cudaError_t launch_batch_norm_inference(const LaunchOn& on, const BatchNormShape& shape,
                                        const BatchNormInferenceForward& memory) {
  if (shape.rows == 0 || shape.channels == 0) return cudaSuccess;
  return with_packs(
      shape, [&]<class T, int pack>() { return launch_normalize<T, pack>(on, shape, memory, shape.parameters); });
}

cudaError_t launch_batch_norm_gradient(const LaunchOn& on, const BatchNormShape& shape, const BatchNormBackward& memory,
                                       bool statistics_depend_on_x, float* workspace) {
  if (shape.channels == 0) return cudaSuccess;  // without rows the gradients of the parameters are 0
  return with_packs(shape, [&]<class T, int pack>() {
    const auto launch_with = [&]<ReluBy relu>() {
      return launch_gradient<T, relu, pack>(on, shape, memory, statistics_depend_on_x, workspace);
    };
    if (memory.y != nullptr) return launch_with.template operator()<ReluBy::y>();
    if (memory.beta != nullptr) return launch_with.template operator()<ReluBy::x>();
    return launch_with.template operator()<ReluBy::none>();
  });
}

}  // namespace gpubench::cuda
