// What the kernels of attention share. A block keeps a tile of `own` rows (queries, or keys in the gradient of keys),
// four neighbouring threads a row; tiles of `other` rows pass through shared memory. A thread has a quarter of its
// row's products, and of its row's results.
#pragma once
#include "core/backend/cuda/kernels/attention.h"
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/philox.h"

namespace gpubench::cuda::attention {

inline constexpr int own = 32, other = 16, quarter = 4;
inline constexpr int threads = own * quarter;
inline constexpr int products_each = other / quarter;

/// One head of a tensor [batch, time, heads, dim].
struct Head {
  const void* data;
  Dtype dtype;
  std::int64_t first, stride, rows;
  int width;

  __device__ Head(const void* memory, Dtype type, std::int64_t batch, std::int64_t time, std::int64_t heads,
                  std::int64_t dim, std::int64_t head)
      : data(memory),
        dtype(type),
        first((batch * time * heads + head) * dim),
        stride(heads * dim),
        rows(time),
        width(static_cast<int>(dim)) {}
  __device__ std::int64_t at(std::int64_t row, int column) const { return first + row * stride + column; }
  __device__ float load(std::int64_t row, int column) const {
    return row < rows ? load_as<float>(data, dtype, at(row, column)) : 0.0F;
  }
};

/// Rows in shared memory; the odd width keeps columns out of one bank.
template <int Rows, int Dim>
struct SharedRows {
  float values[Rows][Dim + 1];

  __device__ void load(const Head& head, std::int64_t first) {
    for (int i = static_cast<int>(threadIdx.x); i < Rows * head.width; i += threads) {
      values[i / head.width][i % head.width] = head.load(first + i / head.width, i % head.width);
    }
  }
  /// Zeros in the columns that no load fills. Their sums are computed with the others and not stored.
  __device__ void clear_from(std::int64_t column) {
    for (int i = static_cast<int>(threadIdx.x); i < Rows * Dim; i += threads) {
      if (i % Dim >= column) values[i / Dim][i % Dim] = 0;
    }
  }
};

/// Where a thread works: its row of the tile, and which quarter of the row.
struct Quarter {
  int row = static_cast<int>(threadIdx.x) / quarter, rank = static_cast<int>(threadIdx.x) % quarter;
};

struct Largest {
  __device__ float operator()(float a, float b) const { return a > b ? a : b; }
};
struct Total {
  __device__ float operator()(float a, float b) const { return a + b; }
};

/// Combines one value from each of the four threads of a row; each receives the result.
template <class Combine>
__device__ float over_row(float value, Combine combine) {
  for (int distance = 1; distance < quarter; distance *= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
  }
  return value;
}

/// Row a of a tile times the rows of another that this thread has.
template <class A, class B>
__device__ void quarter_products(const A& a, int row, const B& b, int rank, int width, float (&result)[products_each]) {
  for (float& value : result) value = 0;
  for (int d = 0; d < width; ++d) {
    const float left = a.values[row][d];
#pragma unroll
    for (int n = 0; n < products_each; ++n) result[n] += left * b.values[rank + quarter * n][d];
  }
}

/// result += weights[row][...] times the rows of a tile, in the columns of this thread.
template <int Dim, class B>
__device__ void add_weighted(const float (&weights)[other + 1], const B& b, int rank, float (&result)[Dim / quarter]) {
  for (int n = 0; n < other; ++n) {
    const float weight = weights[n];
#pragma unroll
    for (int c = 0; c < Dim / quarter; ++c) result[c] += weight * b.values[n][rank + quarter * c];
  }
}

template <int Dim>
__device__ void store_columns(const Head& head, void* to, std::int64_t row, int rank, float factor,
                              const float (&values)[Dim / quarter]) {
  if (row >= head.rows) return;
  for (int c = 0; c < Dim / quarter; ++c) {
    const int column = rank + quarter * c;
    if (column < head.width) store_as<float>(to, head.dtype, head.at(row, column), values[c] * factor);
  }
}

/// What one head's weights depend on besides q and k.
struct HeadWeights {
  const AttentionShape& shape;
  const void* mask;
  std::int64_t batch, head, mask_first, random_first;
  std::uint64_t step;

  __device__ HeadWeights(const AttentionShape& given, const void* mask_data, const std::int64_t* steps,
                         std::int64_t of_batch, std::int64_t of_head)
      : shape(given),
        mask(mask_data),
        batch(of_batch),
        head(of_head),
        mask_first(of_batch * given.mask_strides[0] + of_head * given.mask_strides[1]),
        random_first((((given.first_example + of_batch) * given.heads + of_head) * given.queries) * given.random_row),
        step(steps == nullptr ? 0 : static_cast<std::uint64_t>(*steps)) {}

  /// Whether query i attends to key j; adds a floating mask to the scaled product.
  __device__ bool attends(std::int64_t i, std::int64_t j, float& product) const {
    if (i >= shape.queries || j >= shape.keys || (shape.causal && j > i)) return false;
    if (mask == nullptr) return true;
    const std::int64_t at = mask_first + i * shape.mask_strides[2] + j * shape.mask_strides[3];
    if (shape.mask_dtype == Dtype::boolean) return load_as<std::int64_t>(mask, Dtype::boolean, at) != 0;
    product += load_as<float>(mask, shape.mask_dtype, at);
    return product != -INFINITY;
  }
  /// 0 if the weight is dropped.
  __device__ float kept(std::int64_t i, std::int64_t j) const {
    if (shape.drop_below == 0) return 1;
    const std::uint32_t word = math::philox_word(shape.seed, step, random_first + i * shape.random_row + j);
    return word >= shape.drop_below ? shape.keep_scale : 0.0F;
  }
};

__device__ inline Head query_head(const AttentionShape& s, const void* data, std::int64_t width, std::int64_t batch,
                                  std::int64_t head) {
  return {data, s.dtype, batch, s.queries, s.heads, width, head};
}
__device__ inline Head key_head(const AttentionShape& s, const void* data, std::int64_t width, std::int64_t batch,
                                std::int64_t head) {
  return {data, s.dtype, batch, s.keys, s.groups, width, head / (s.heads / s.groups)};
}

/// Columns of a tile that is loaded with keys and with values.
__device__ inline std::int64_t widest(const AttentionShape& shape) {
  return shape.dim > shape.value_dim ? shape.dim : shape.value_dim;
}

/// Keys that a tile of queries attends to: the first ones.
__device__ inline std::int64_t keys_of(const AttentionShape& shape, std::int64_t first_query) {
  if (!shape.causal) return shape.keys;
  return first_query + own < shape.keys ? first_query + own : shape.keys;
}

inline unsigned blocks(std::int64_t heads, std::int64_t rows) {
  return static_cast<unsigned>(heads * ((rows + own - 1) / own));
}

/// The narrower of the two widths that kernels are compiled for.
inline constexpr std::int64_t narrow_head = 64;

inline bool is_narrow(const AttentionShape& shape) {
  return shape.dim <= narrow_head && shape.value_dim <= narrow_head;
}

}  // namespace gpubench::cuda::attention
