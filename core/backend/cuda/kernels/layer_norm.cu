// Statistics and dx are rows' (rows.cuh), the parameters' gradients columns' (column_sums.cuh).
#include "core/backend/cuda/kernels/column_sums.cuh"
#include "core/backend/cuda/kernels/layer_norm.h"
#include "core/backend/cuda/kernels/rows.cuh"

namespace gpubench::cuda {
namespace {

/// The packs of 16 bytes, or elements where they do not divide a row, that one thread has of a row of `data`: `kept` at
/// most, which are in registers, so that a row is read once and all of it is in flight; or with 0 any number, read
/// again each time.
template <class By, class T, int kept, int pack>
class RowPacks {
 public:
  __device__ RowPacks(const void* data, const Row& row) : first_(as<T>(data) + (row.begin + row.rank) * pack) {
#pragma unroll
    for (int k = 0; k < kept; ++k) {
      if (row.rank + k * By::most_threads < row.columns) packs_[k].load(first_, k * By::most_threads * pack);
    }
  }
  /// The thread's k-th pack.
  __device__ Pack<float, pack> values(const Row& row, int k) const {
    if constexpr (kept > 0) return packs_[k].values();
    return load_pack_of<T, pack>(first_, std::int64_t{k} * row.width * pack);
  }

 private:
  const T* first_;
  Stored<T, pack> packs_[kept > 0 ? kept : 1];
};

/// use(k, i) for each of the thread's packs: its k-th, which is the row's i-th.
template <class By, int kept, class Use>
__device__ void for_each_pack_of(const Row& row, const Use& use) {
  if constexpr (kept > 0) {
#pragma unroll
    for (int k = 0; k < kept; ++k) {
      if (row.rank + k * By::most_threads < row.columns) use(k, row.rank + k * By::most_threads);
    }
  } else {
    int k = 0;
    for (std::int64_t i = row.rank; i < row.columns; i += row.width) use(k++, i);
  }
}

template <class T, int kept, int pack>
struct NormalizeRow {
  LayerNormShape shape;
  LayerNormForward memory;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const RowPacks<By, T, kept, pack> elements(memory.x, row);
    const float share = 1.0F / static_cast<float>(shape.channels);
    float mean = 0;
    if (shape.centered) {
      float sum = 0;
      for_each_pack_of<By, kept>(row, [&](int k, auto) {
        const Pack<float, pack> x = elements.values(row, k);
#pragma unroll
        for (int j = 0; j < pack; ++j) sum += x.values[j];
      });
      mean = By::reduce(row, sum, math::Add{}) * share;
    }
    float squares = 0;
    for_each_pack_of<By, kept>(row, [&](int k, auto) {
      const Pack<float, pack> x = elements.values(row, k);
#pragma unroll
      for (int j = 0; j < pack; ++j) {
        const float centered = x.values[j] - mean;
        squares += centered * centered;
      }
    });
    const float inverse = 1.0F / sqrtf(By::reduce(row, squares, math::Add{}) * share + shape.epsilon);
    for_each_pack_of<By, kept>(row, [&](int k, auto i) {
      Pack<float, pack> y = elements.values(row, k), beta{};
      const Pack<float, pack> gamma = load_pack<pack>(memory.gamma, shape.parameters, i * pack);
      if (shape.centered) beta = load_pack<pack>(memory.beta, shape.parameters, i * pack);
#pragma unroll
      for (int j = 0; j < pack; ++j) {
        y.values[j] = (y.values[j] - mean) * (inverse * gamma.values[j]) + beta.values[j];
      }
      store_pack_of<T>(memory.y, (row.begin + i) * pack, y);
    });
    if (!row.leads()) return;
    if (shape.centered) memory.mean[row.index] = mean;
    memory.inverse[row.index] = inverse;
  }
};

// With g = dy gamma and z = (x - mean) inverse: dx = inverse (g - mean(g) - z mean(g z)); mean(g) is missing where x is
// not centered.
template <class T, int kept, int pack>
struct RowInputGradient {
  LayerNormShape shape;
  LayerNormBackward memory;

  template <class By>
  __device__ void operator()(By, const Row& row) const {
    const RowPacks<By, T, kept, pack> elements(memory.x, row), output_gradients(memory.dy, row);
    const float mean = shape.centered ? memory.mean[row.index] : 0.0F, inverse = memory.inverse[row.index];
    const float share = 1.0F / static_cast<float>(shape.channels);
    // use(j, x, dy gamma) for the elements of a pack.
    const auto each_slope = [&](int k, auto i, const auto& use) {
      const Pack<float, pack> gamma = load_pack<pack>(memory.gamma, shape.parameters, i * pack);
      const Pack<float, pack> x = elements.values(row, k), dy = output_gradients.values(row, k);
#pragma unroll
      for (int j = 0; j < pack; ++j) use(j, x.values[j], dy.values[j] * gamma.values[j]);
    };
    float slopes = 0, moments = 0;
    for_each_pack_of<By, kept>(row, [&](int k, auto i) {
      each_slope(k, i, [&](int, float x, float g) {
        slopes += g;
        moments += g * (x - mean);
      });
    });
    const float offset = shape.centered ? By::reduce(row, slopes, math::Add{}) * share : 0.0F;
    const float by_x = By::reduce(row, moments, math::Add{}) * share * inverse * inverse;
    for_each_pack_of<By, kept>(row, [&](int k, auto i) {
      Pack<float, pack> dx;
      each_slope(k, i, [&](int j, float x, float g) { dx.values[j] = inverse * (g - offset - (x - mean) * by_x); });
      store_pack_of<T>(memory.dx, (row.begin + i) * pack, dx);
    });
  }
};

/// Rows that fit into the registers of a warp, with 2 packs a lane or `lane_packs`, or of a block are kept there.
template <template <class, int, int> class Body, class T, int pack, int lane_packs, class Memory>
cudaError_t launch_row_norm(const LaunchOn& on, const LayerNormShape& shape, const Memory& memory) {
  const std::int64_t packs = shape.channels / pack;
  if constexpr (pack == 1) {
    return launch_rows(on, shape.rows, packs, Body<T, 0, 1>{shape, memory});
  } else {
    constexpr int block_packs = 4;
    if (packs <= 2 * warp_size) return launch_rows_by_lanes(on, shape.rows, packs, Body<T, 2, pack>{shape, memory});
    if (packs <= lane_packs * warp_size) {
      return launch_rows_by_lanes(on, shape.rows, packs, Body<T, lane_packs, pack>{shape, memory});
    }
    if (packs <= block_packs * block_threads) {
      return launch_rows_by_block(on, shape.rows, packs, Body<T, block_packs, pack>{shape, memory});
    }
    return launch_rows_by_block(on, shape.rows, packs, Body<T, 0, pack>{shape, memory});
  }
}

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
      [&](int k, std::int64_t, ColumnPair* sum) {
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
  return with_packs(shape,
                    [&]<class T, int pack>() { return launch_row_norm<NormalizeRow, T, pack, 8>(on, shape, memory); });
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
    return launch_row_norm<RowInputGradient, T, pack, 4>(on, shape, memory);
  });
}

}  // namespace gpubench::cuda
