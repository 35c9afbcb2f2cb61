// dq by tiles of queries, then dk and dv by tiles of keys: no two blocks add to one result.
#include "core/backend/cuda/kernels/attention_tiles.cuh"

namespace gpubench::cuda {
namespace attention {
namespace {

/// For each query of each head: its gradient times its output.
__global__ void attention_dots(AttentionShape shape, AttentionBackward memory, float* dots) {
  const std::int64_t count = shape.batch * shape.heads * shape.queries;
  for (std::int64_t at = first_index(); at < count; at += index_step()) {
    const std::int64_t i = at % shape.queries, of_heads = at / shape.queries;
    const std::int64_t batch = of_heads / shape.heads, head = of_heads % shape.heads;
    const Head out = query_head(shape, memory.out, shape.value_dim, batch, head);
    const Head dout = query_head(shape, memory.dout, shape.value_dim, batch, head);
    float dot = 0;
    for (int d = 0; d < out.width; ++d) dot += out.load(i, d) * dout.load(i, d);
    dots[at] = dot;
  }
}

/// exp(product - log of the sum): the weight before some are dropped, 0 where the query does not attend.
__device__ inline float weight_again(const HeadWeights& weigh, const float* log_sums, std::int64_t i, std::int64_t j,
                                     float product) {
  product *= weigh.shape.scale;
  if (!weigh.attends(i, j, product)) return 0;
  const std::int64_t all_queries = weigh.shape.batch * weigh.shape.heads * weigh.shape.queries;
  return math::exp(product - log_sums[i] - log_sums[all_queries + i]);
}

template <int Dim>
__global__ void attention_query_gradient(AttentionShape shape, AttentionBackward memory, const float* dots) {
  __shared__ SharedRows<own, Dim> q, dout;
  __shared__ SharedRows<other, Dim> tile;
  __shared__ float slopes[own][other + 1];
  tile.clear_from(widest(shape));
  const Quarter mine;
  const std::int64_t tiles = (shape.queries + own - 1) / own;
  const std::int64_t first = blockIdx.x % tiles * own, of_heads = blockIdx.x / tiles;
  const std::int64_t batch = of_heads / shape.heads, head = of_heads % shape.heads, i = first + mine.row;
  const HeadWeights weigh(shape, memory.mask, memory.step, batch, head);
  const Head k = key_head(shape, memory.k, shape.dim, batch, head);
  const Head v = key_head(shape, memory.v, shape.value_dim, batch, head);
  q.load(query_head(shape, memory.q, shape.dim, batch, head), first);
  dout.load(query_head(shape, memory.dout, shape.value_dim, batch, head), first);
  const float* const log_sums = memory.log_sums + of_heads * shape.queries;
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
      const float weight = weight_again(weigh, log_sums, i, j + column, product[n]);
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
  tile.clear_from(widest(shape));
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
    const float *const log_sums = memory.log_sums + of_heads, *const of_dots = dots + of_heads;
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
        const float weight = weight_again(weigh, log_sums, query, j, product[n]);
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

template <int Dim>
cudaError_t launch_gradient_of(const LaunchOn& on, const AttentionShape& shape, const AttentionBackward& memory,
                               const float* dots) {
  const cudaError_t status = launch(on, blocks(shape.batch * shape.heads, shape.queries), threads,
                                    &attention_query_gradient<Dim>, shape, memory, dots);
  if (status != cudaSuccess) return status;
  return launch(on, blocks(shape.batch * shape.groups, shape.keys), threads, &attention_key_gradient<Dim>, shape,
                memory, dots);
}

}  // namespace
}  // namespace attention

cudaError_t launch_attention_gradient(const LaunchOn& on, const AttentionShape& shape, const AttentionBackward& memory,
                                      float* dots) {
  const std::int64_t rows = shape.batch * shape.heads * shape.queries;
  if (rows == 0) return cudaSuccess;
  const cudaError_t status = launch_filling<&attention::attention_dots>(on, rows, block_threads, shape, memory, dots);
  if (status != cudaSuccess) return status;
  return attention::is_narrow(shape) ? attention::launch_gradient_of<attention::narrow_head>(on, shape, memory, dots)
                                     : attention::launch_gradient_of<most_attention_dim>(on, shape, memory, dots);
}

}  // namespace gpubench::cuda
