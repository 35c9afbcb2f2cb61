// Attention in tiles of shared memory, and its gradient: dq by tiles of queries, then dk and dv by tiles of keys, so
// that no two blocks add to one result and results repeat. Arithmetic and sums are float32. Strides and extents as in
// core/ops/attention.h, which kernels do not include.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// The largest extent of a head, of keys and of values.
inline constexpr std::int64_t most_attention_dim = 128;

struct AttentionShape {
  std::int64_t batch = 0, queries = 0, keys = 0, heads = 0, groups = 0, dim = 0, value_dim = 0;
  float scale = 1;
  bool causal = false;
  Dtype dtype = Dtype::f32;
  Dtype mask_dtype = Dtype::f32;
  std::int64_t mask_strides[4] = {};  ///< of [batch, head, query, key]
  std::uint32_t drop_below = 0;       ///< random words below it drop a weight; 0: none is dropped
  float keep_scale = 1;
  std::uint64_t seed = 0;
  std::int64_t first_example = 0, random_row = 0;
};

/// Null where there is none: mask, step. `log_sums` [2, batch, heads, queries]: pairs to be added.
struct AttentionForward {
  const void *q, *k, *v, *mask;
  const std::int64_t* step;
  void* out;
  float* log_sums;
};
struct AttentionBackward {
  const void *q, *k, *v, *mask;
  const std::int64_t* step;
  const void* out;
  const float* log_sums;
  const void* dout;
  void *dq, *dk, *dv;
};

cudaError_t launch_attention(const LaunchOn& on, const AttentionShape& shape, const AttentionForward& memory);
/// `dots`: workspace, a float for each query of each head.
cudaError_t launch_attention_gradient(const LaunchOn& on, const AttentionShape& shape, const AttentionBackward& memory,
                                      float* dots);

}  // namespace gpubench::cuda
