// The computations of attention on one block of queries and one block of keys, packed as float32 rows so that they fit
// the first-level cache. Rows are padded with zeros to whole vectors. Queries are scaled when they are packed.
#pragma once
#include <array>
#include <cstdint>
#include <span>

#include "core/backend/backend.h"
#include "core/ops/attention.h"

namespace gpubench::cpu {

inline constexpr std::int64_t query_block = 48;
inline constexpr std::int64_t key_block = 64;  // as many as a block of random words

/// What all blocks of one attention have in common.
struct AttentionBlocks {
  AttentionBlocks(const AttentionOptions& chosen, const Signature& signature);

  AttentionExtents extents;
  AttentionOptions options;
  Dtype mask_dtype = Dtype::f32;
  std::array<std::int64_t, 4> strides{};  ///< of the mask
  std::int64_t dim = 0, value_dim = 0;    ///< padded
  std::int64_t query_blocks = 0, key_blocks = 0;

  std::int64_t queries_in(std::int64_t block) const;
  std::int64_t keys_in(std::int64_t block) const;
  /// The block to compute as number `turn` of `count`: with a causal mask long and short ones alternate, so that
  /// threads that take neighbouring turns do equal work.
  std::int64_t block_in_turn(std::int64_t turn, std::int64_t count) const;
  /// Blocks of keys that a block of queries attends to: the first ones.
  std::int64_t key_blocks_of(std::int64_t block) const;
  /// The first block of queries that attends to a block of keys.
  std::int64_t first_query_block_of(std::int64_t block) const;
};

/// Threads for an op of attention with so many tasks.
int threads_for_attention(const Op& op, const Signature& signature, std::int64_t tasks, Device& device);

/// The inputs beside q, k and v.
struct BesideInputs {
  const std::byte* mask = nullptr;  ///< null: no mask
  std::uint64_t step = 0;

  BesideInputs(const AttentionOptions& options, std::span<const TensorView> inputs);
};

/// Which queries meet which keys, and what stands beside the tensors in a run.
struct BlockPlace {
  std::int64_t batch = 0, head = 0, query_block = 0, key_block = 0;
  BesideInputs beside;
};

/// float32 memory that a thread computes a pair of blocks in.
struct BlockScratch {
  static constexpr std::int64_t floats = 2 * query_block * key_block;
  explicit BlockScratch(float* memory) : weights(memory), slopes(memory + query_block * key_block) {}
  float *weights, *slopes;  ///< [query_block, key_block]
};

/// The state of the queries' softmax while blocks of keys pass: values [query_block, value_dim] are relative to
/// exp(largest).
struct SoftmaxState {
  float *values, *largest, *sum;
};

/// Forgets all keys.
void begin_softmax(const AttentionBlocks& blocks, const SoftmaxState& state);

/// Adds a block of keys: `q` [queries, dim], `k_columns` [dim, key_block], `v` [keys, value_dim].
void add_keys(const AttentionBlocks& blocks, const BlockPlace& place, const float* q, const float* k_columns,
              const float* v, const BlockScratch& scratch, const SoftmaxState& state);

/// A block of queries in the gradient.
struct QueryGradient {
  const float *q, *dout;                     ///< [queries, dim], [queries, value_dim]
  const float *log_sums, *log_rests, *dots;  ///< log of the sums; the products of each gradient with its output
  float* dq;                                 ///< [queries, dim], to which is added; null: not wanted
};
/// A block of keys in the gradient.
struct KeyGradient {
  const float *k, *k_columns, *v_columns;  ///< [keys, dim], [dim, key_block], [value_dim, key_block]
  float *dk, *dv;                          ///< [keys, dim], [keys, value_dim], to which is added; null: not wanted
};

/// Adds what a pair of blocks contributes to the gradients. dq lacks the factor `scale`.
void add_gradients(const AttentionBlocks& blocks, const BlockPlace& place, const QueryGradient& queries,
                   const KeyGradient& keys, const BlockScratch& scratch);

}  // namespace gpubench::cpu
