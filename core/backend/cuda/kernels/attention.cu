#include "core/backend/cuda/kernels/attention.h"
#include "core/backend/cuda/kernels/attention_tiles.cuh"

namespace gpubench::cuda {
namespace attention {
namespace {

template <int Dim>
__global__ void attention_kernel(AttentionShape shape, AttentionForward memory) {
  __shared__ SharedRows<own, Dim> q;
  __shared__ SharedRows<other, Dim> tile;
  __shared__ float weights[own][other + 1];
  tile.clear_from(widest(shape));
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
    float* const log_sum = memory.log_sums + of_heads * shape.queries + i;
    const float of_largest = logf(sum), rounded = sum == 0 ? -INFINITY : largest + of_largest;
    log_sum[0] = rounded;
    log_sum[shape.batch * shape.heads * shape.queries] = sum == 0 ? 0.0F : (largest - rounded) + of_largest;
  }
}

}  // namespace
}  // namespace attention

cudaError_t launch_attention(const LaunchOn& on, const AttentionShape& shape, const AttentionForward& memory) {
  const unsigned blocks = attention::blocks(shape.batch * shape.heads, shape.queries);
  if (blocks == 0) return cudaSuccess;
  return launch(on, blocks, attention::threads,
                attention::is_narrow(shape) ? &attention::attention_kernel<attention::narrow_head>
                                            : &attention::attention_kernel<most_attention_dim>,
                shape, memory);
}

}  // namespace gpubench::cuda
