// A block keeps a tile of `own` rows (queries, or keys in the gradient of keys), four neighbouring threads a row; tiles
// of `other` rows pass through shared memory. A thread has a quarter of its row's products, and of its row's results.
#include "core/backend/cuda/kernels/attention.h"
#include "core/backend/cuda/kernels/elementwise.cuh"
#include "core/math/philox.h"

namespace gpubench::cuda {
namespace {

constexpr int own = 32, other = 16, quarter = 4;
constexpr int attention_threads = own * quarter;
constexpr int products_each = other / quarter;

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
    for (int i = static_cast<int>(threadIdx.x); i < Rows * head.width; i += attention_threads) {
      values[i / head.width][i % head.width] = head.load(first + i / head.width, i % head.width);
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

/// Keys that a tile of queries attends to: the first ones.
__device__ inline std::int64_t keys_of(const AttentionShape& shape, std::int64_t first_query) {
  if (!shape.causal) return shape.keys;
  return first_query + own < shape.keys ? first_query + own : shape.keys;
}

template <int Dim>
__global__ void attention_kernel(AttentionShape shape, AttentionForward memory) {
  __shared__ SharedRows<own, Dim> q;
  __shared__ SharedRows<other, Dim> tile;
  __shared__ float weights[own][other + 1];
  const Quarter mine;
  const std::int64_t tiles = (shape.queries + own - 1) / own;
  const std::int64_t first = blockIdx.x % tiles * own, of_heads = blockIdx.x / tiles;
  const std::int64_t batch = of_heads / shape.heads, head = of_heads % shape.heads, i = first + mine.row;
  const HeadWeights weigh(shape, memory.mask, memory.step, batch, head);
  const Head k = key_head(shape, memory.k, shape.dim, batch, head);
  const Head v = key_head(shape, memory.v, shape.value_dim, batch, head);
  q.load(query_head(shape, memory.q, shape.dim, batch, head), first);
  float result[Dim / quarter] = {}, largest = -INFINITY, sum = 0;
  for (std::int64_t j = 0; j < keys_of(shape, first); j += other) {
    __syncthreads();
    tile.load(k, j);
    __syncthreads();
    float product[products_each], highest = largest;
    quarter_products(q, mine.row, tile, mine.rank, k.width, product);
    for (int n = 0; n < products_each; ++n) {
      product[n] *= shape.scale;
      if (!weigh.attends(i, j + mine.rank + quarter * n, product[n])) product[n] = -INFINITY;
      highest = product[n] > highest ? product[n] : highest;
    }
    highest = over_row(highest, Largest{});
    const float shift = highest == -INFINITY ? 0.0F : highest, before = math::exp(largest - shift);
    float added = 0;
    for (int n = 0; n < products_each; ++n) {
      const float weight = math::exp(product[n] - shift);
      added += weight;
      const int column = mine.rank + quarter * n;
      weights[mine.row][column] = weight * weigh.kept(i, j + column);
    }
    sum = sum * before + over_row(added, Total{});
    largest = highest;
    __syncthreads();
    tile.load(v, j);
    __syncthreads();
    for (float& value : result) value *= before;
    add_weighted<Dim>(weights[mine.row], tile, mine.rank, result);
  }
  store_columns<Dim>(query_head(shape, memory.out, shape.value_dim, batch, head), memory.out, i, mine.rank,
                     sum == 0 ? 0.0F : 1.0F / sum, result);
  if (mine.rank == 0 && i < shape.queries) {
    memory.sums[of_heads * shape.queries + i] = sum == 0 ? -INFINITY : largest + logf(sum);
  }
}

/// For each query of each head: its gradient times its output, less the gradient of its sum.
__global__ void attention_dots(AttentionShape shape, AttentionBackward memory, float* dots) {
  const std::int64_t count = shape.batch * shape.heads * shape.queries;
  for (std::int64_t at = first_index(); at < count; at += index_step()) {
    const std::int64_t i = at % shape.queries, of_heads = at / shape.queries;
    const std::int64_t batch = of_heads / shape.heads, head = of_heads % shape.heads;
    const Head out = query_head(shape, memory.out, shape.value_dim, batch, head);
    const Head dout = query_head(shape, memory.dout, shape.value_dim, batch, head);
    float dot = memory.dsums == nullptr ? 0.0F : -memory.dsums[at];
    for (int d = 0; d < out.width; ++d) dot += out.load(i, d) * dout.load(i, d);
    dots[at] = dot;
  }
}

/// exp(product - log of the sum): the weight before some are dropped, 0 where the query does not attend.
__device__ inline float weight_again(const HeadWeights& weigh, const float* sums, std::int64_t i, std::int64_t j,
                                     float product) {
  product *= weigh.shape.scale;
  if (!weigh.attends(i, j, product)) return 0;
  return math::exp(product - sums[i]);
}

template <int Dim>
__global__ void attention_query_gradient(AttentionShape shape, AttentionBackward memory, const float* dots) {
  __shared__ SharedRows<own, Dim> q, dout;
  __shared__ SharedRows<other, Dim> tile;
  __shared__ float slopes[own][other + 1];
  const Quarter mine;
  const std::int64_t tiles = (shape.queries + own - 1) / own;
  const std::int64_t first = blockIdx.x % tiles * own, of_heads = blockIdx.x / tiles;
  const std::int64_t batch = of_heads / shape.heads, head = of_heads % shape.heads, i = first + mine.row;
  const HeadWeights weigh(shape, memory.mask, memory.step, batch, head);
  const Head k = key_head(shape, memory.k, shape.dim, batch, head);
  const Head v = key_head(shape, memory.v, shape.value_dim, batch, head);
  q.load(query_head(shape, memory.q, shape.dim, batch, head), first);
  dout.load(query_head(shape, memory.dout, shape.value_dim, batch, head), first);
  const float* const sums = memory.sums + of_heads * shape.queries;
  const float dot = i < shape.queries ? dots[of_heads * shape.queries + i] : 0.0F;
  float result[Dim / quarter] = {};
  for (std::int64_t j = 0; j < keys_of(shape, first); j += other) {
    float product[products_each], slope[products_each];
    __syncthreads();
    tile.load(v, j);
    __syncthreads();
    quarter_products(dout, mine.row, tile, mine.rank, v.width, slope);
    __syncthreads();
    tile.load(k, j);
    __syncthreads();
    quarter_products(q, mine.row, tile, mine.rank, k.width, product);
    for (int n = 0; n < products_each; ++n) {
      const int column = mine.rank + quarter * n;
      const float weight = weight_again(weigh, sums, i, j + column, product[n]);
      slopes[mine.row][column] = weight == 0 ? 0.0F : weight * (slope[n] * weigh.kept(i, j + column) - dot);
    }
    __syncthreads();
    add_weighted<Dim>(slopes[mine.row], tile, mine.rank, result);
  }
  store_columns<Dim>(query_head(shape, memory.dq, shape.dim, batch, head), memory.dq, i, mine.rank, shape.scale,
                     result);
}

template <int Dim>
__global__ void attention_key_gradient(AttentionShape shape, AttentionBackward memory, const float* dots) {
  __shared__ SharedRows<own, Dim> k, v;
  __shared__ SharedRows<other, Dim> tile;
  __shared__ float weights[own][other + 1];
  const Quarter mine;
  const std::int64_t tiles = (shape.keys + own - 1) / own, heads_per_group = shape.heads / shape.groups;
  const std::int64_t first = blockIdx.x % tiles * own, of_groups = blockIdx.x / tiles;
  const std::int64_t batch = of_groups / shape.groups, group = of_groups % shape.groups, j = first + mine.row;
  const std::int64_t first_head = group * heads_per_group;
  k.load(key_head(shape, memory.k, shape.dim, batch, first_head), first);
  v.load(key_head(shape, memory.v, shape.value_dim, batch, first_head), first);
  float dk[Dim / quarter] = {}, dv[Dim / quarter] = {};
  for (std::int64_t head = first_head; head < first_head + heads_per_group; ++head) {
    const HeadWeights weigh(shape, memory.mask, memory.step, batch, head);
    const Head q = query_head(shape, memory.q, shape.dim, batch, head);
    const Head dout = query_head(shape, memory.dout, shape.value_dim, batch, head);
    const std::int64_t of_heads = (batch * shape.heads + head) * shape.queries;
    const float *const sums = memory.sums + of_heads, *const of_dots = dots + of_heads;
    for (std::int64_t i = shape.causal ? first / other * other : 0; i < shape.queries; i += other) {
      float product[products_each], slope[products_each];
      __syncthreads();
      tile.load(q, i);
      __syncthreads();
      quarter_products(k, mine.row, tile, mine.rank, q.width, product);
      __syncthreads();
      tile.load(dout, i);
      __syncthreads();
      quarter_products(v, mine.row, tile, mine.rank, dout.width, slope);
      for (int n = 0; n < products_each; ++n) {
        const std::int64_t query = i + mine.rank + quarter * n;
        const float weight = weight_again(weigh, sums, query, j, product[n]);
        const float kept = weight == 0 ? 0.0F : weigh.kept(query, j);
        weights[mine.row][mine.rank + quarter * n] = weight * kept;
        slope[n] = weight == 0 ? 0.0F : weight * (slope[n] * kept - of_dots[query]);
      }
      __syncwarp();  // a row's threads are of one warp
      add_weighted<Dim>(weights[mine.row], tile, mine.rank, dv);
      __syncthreads();
      for (int n = 0; n < products_each; ++n) weights[mine.row][mine.rank + quarter * n] = slope[n];
      tile.load(q, i);
      __syncthreads();
      add_weighted<Dim>(weights[mine.row], tile, mine.rank, dk);
    }
  }
  store_columns<Dim>(key_head(shape, memory.dk, shape.dim, batch, first_head), memory.dk, j, mine.rank, shape.scale,
                     dk);
  store_columns<Dim>(key_head(shape, memory.dv, shape.value_dim, batch, first_head), memory.dv, j, mine.rank, 1.0F, dv);
}

unsigned attention_blocks(std::int64_t heads, std::int64_t rows) {
  return static_cast<unsigned>(heads * ((rows + own - 1) / own));
}

template <int Dim>
cudaError_t launch_gradient_of(const LaunchOn& on, const AttentionShape& shape, const AttentionBackward& memory,
                               const float* dots) {
  const cudaError_t status = launch(on, attention_blocks(shape.batch * shape.heads, shape.queries), attention_threads,
                                    &attention_query_gradient<Dim>, shape, memory, dots);
  if (status != cudaSuccess) return status;
  return launch(on, attention_blocks(shape.batch * shape.groups, shape.keys), attention_threads,
                &attention_key_gradient<Dim>, shape, memory, dots);
}

constexpr std::int64_t narrow_head = 64;

bool is_narrow(const AttentionShape& shape) {
  return shape.dim <= narrow_head && shape.value_dim <= narrow_head;
}

}  // namespace

cudaError_t launch_attention(const LaunchOn& on, const AttentionShape& shape, const AttentionForward& memory) {
  const unsigned blocks = attention_blocks(shape.batch * shape.heads, shape.queries);
  if (blocks == 0) return cudaSuccess;
  return launch(on, blocks, attention_threads,
                is_narrow(shape) ? &attention_kernel<narrow_head> : &attention_kernel<most_attention_dim>, shape,
                memory);
}

cudaError_t launch_attention_gradient(const LaunchOn& on, const AttentionShape& shape, const AttentionBackward& memory,
                                      float* dots) {
  const std::int64_t rows = shape.batch * shape.heads * shape.queries;
  if (rows == 0) return cudaSuccess;
  const cudaError_t status = launch(on, blocks_for(on, rows), block_threads, &attention_dots, shape, memory, dots);
  if (status != cudaSuccess) return status;
  return is_narrow(shape) ? launch_gradient_of<narrow_head>(on, shape, memory, dots)
                          : launch_gradient_of<most_attention_dim>(on, shape, memory, dots);
}

}  // namespace gpubench::cuda
