// Statistics and dx are rows' (rows.cuh), the parameters' gradients columns' (column_sums.cuh).
#include "core/backend/cuda/kernels/column_sums.cuh"
#include "core/backend/cuda/kernels/layer_norm.h"
#include "core/backend/cuda/kernels/rows.cuh"

namespace gpubench::cuda {
namespace {

// A row is read as packs of 16 bytes, or element by element where its length does not divide; `i` counts packs.
template <class T, int pack>
struct NormalizeRow {
  LayerNormShape shape;
  LayerNormForward memory;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const float share = 1.0F / static_cast<float>(shape.channels);
    float mean = 0;
    if (shape.centered) {
      float sum = 0;
      for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
        const Pack<float, pack> x = elements(row, i);
#pragma unroll
        for (int j = 0; j < pack; ++j) sum += x.values[j];
      }
      mean = By::reduce(row, sum, Plus{}) * share;
    }
    float squares = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      const Pack<float, pack> x = elements(row, i);
#pragma unroll
      for (int j = 0; j < pack; ++j) {
        const float centered = x.values[j] - mean;
        squares += centered * centered;
      }
    }
    const float inverse = 1.0F / sqrtf(By::reduce(row, squares, Plus{}) * share + shape.epsilon);
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      Pack<float, pack> y = elements(row, i), beta{};
      const Pack<float, pack> gamma = load_pack<pack>(memory.gamma, shape.parameters, i * pack);
      if (shape.centered) beta = load_pack<pack>(memory.beta, shape.parameters, i * pack);
#pragma unroll
      for (int j = 0; j < pack; ++j) {
        y.values[j] = (y.values[j] - mean) * (inverse * gamma.values[j]) + beta.values[j];
      }
      store_pack_of<T>(memory.y, (row.begin + i) * pack, y);
    }
    if (!row.leads()) return;
    if (shape.centered) memory.mean[row.index] = mean;
    memory.inverse[row.index] = inverse;
  }

  __device__ Pack<float, pack> elements(const Row& row, std::int64_t i) const {
    return load_pack_of<T, pack>(memory.x, (row.begin + i) * pack);
  }
};

// With g = dy gamma and z = (x - mean) inverse: dx = inverse (g - mean(g) - z mean(g z)); mean(g) is missing where x is
// not centered.
template <class T, int pack>
struct RowInputGradient {
  LayerNormShape shape;
  LayerNormBackward memory;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const float mean = shape.centered ? memory.mean[row.index] : 0.0F, inverse = memory.inverse[row.index];
    const float share = 1.0F / static_cast<float>(shape.channels);
    float slopes = 0, moments = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      each_slope(row, i, [&](int, float x, float g) {
        slopes += g;
        moments += g * (x - mean);
      });
    }
    const float offset = shape.centered ? By::reduce(row, slopes, Plus{}) * share : 0.0F;
    const float by_x = By::reduce(row, moments, Plus{}) * share * inverse * inverse;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) {
      Pack<float, pack> dx;
      each_slope(row, i, [&](int j, float x, float g) { dx.values[j] = inverse * (g - offset - (x - mean) * by_x); });
      store_pack_of<T>(memory.dx, (row.begin + i) * pack, dx);
    }
  }

  /// Calls use(j, x, dy gamma) for the elements of a pack.
  template <class Use>
  __device__ void each_slope(const Row& row, std::int64_t i, const Use& use) const {
    Stored<T, pack> x, dy;
    x.load(memory.x, (row.begin + i) * pack);
    dy.load(memory.dy, (row.begin + i) * pack);
    const Pack<float, pack> gamma = load_pack<pack>(memory.gamma, shape.parameters, i * pack);
    const Pack<float, pack> value = x.values(), slope = dy.values();
#pragma unroll
    for (int j = 0; j < pack; ++j) use(j, value.values[j], slope.values[j] * gamma.values[j]);
  }
};

template <class T, int pack>
__global__ void row_norm_slopes(LayerNormShape shape, LayerNormBackward memory, float* sums) {
  const ColumnPlace place(shape.channels, tile_of(shape.channels, pack));
  constexpr int ahead = 2;
  Stored<T, pack> x[ahead], dy[ahead];
  float mean[ahead], inverse[ahead];
  sum_part<pack, ahead>(
      shape, place, sums,
      [&](int k, std::int64_t row, std::int64_t i) {
        x[k].load(memory.x, i);
        dy[k].load(memory.dy, i);
        mean[k] = shape.centered ? memory.mean[row] : 0.0F;
        inverse[k] = memory.inverse[row];
      },
      [&](int k, ColumnPair* sum) {
        const Pack<float, pack> value = x[k].values(), slope = dy[k].values();
#pragma unroll
        for (int j = 0; j < pack; ++j) {
          sum[j].first += slope.values[j];
          sum[j].second += slope.values[j] * (value.values[j] - mean[k]) * inverse[k];
        }
      });
}

__global__ void row_norm_parameters(LayerNormShape shape, LayerNormBackward memory, const float* sums) {
  sum_parts(shape, sums, [&](std::int64_t column, const ColumnPair& total) {
    if (shape.centered) store_as<float>(memory.dbeta, shape.parameters, column, total.first);
    store_as<float>(memory.dgamma, shape.parameters, column, total.second);
  });
}

}  // namespace

std::int64_t layer_norm_parts(const LayerNormShape& shape, int multiprocessors) {
  return column_parts(shape.rows, shape.channels, multiprocessors, tile_of(shape));
}

std::size_t layer_norm_workspace(const LayerNormShape& shape) {
  return column_sum_bytes(shape);
}

cudaError_t launch_layer_norm(const LaunchOn& on, const LayerNormShape& shape, const LayerNormForward& memory) {
  return with_packs(shape, [&]<class T, int pack>() {
    return launch_rows(on, shape.rows, shape.channels / pack, NormalizeRow<T, pack>{shape, memory});
  });
}

cudaError_t launch_layer_norm_gradient(const LaunchOn& on, const LayerNormShape& shape, const LayerNormBackward& memory,
                                       float* workspace) {
  if (shape.channels == 0) return cudaSuccess;  // without rows the gradients of the parameters are 0
  return with_packs(shape, [&]<class T, int pack>() {
    const LayerNormShape filled = filling<&row_norm_slopes<T, pack>>(on, shape);
    cudaError_t status =
        launch(on, column_blocks(filled), block_threads, &row_norm_slopes<T, pack>, filled, memory, workspace);
    if (status != cudaSuccess) return status;
    status = launch(on, summing_blocks(filled), block_threads, &row_norm_parameters, filled, memory,
                    static_cast<const float*>(workspace));
    if (status != cudaSuccess) return status;
    return launch_rows(on, shape.rows, shape.channels / pack, RowInputGradient<T, pack>{shape, memory});
  });
}

}  // namespace gpubench::cuda
