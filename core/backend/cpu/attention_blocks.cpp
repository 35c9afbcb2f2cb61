#include "core/backend/cpu/attention_blocks.h"

#include <algorithm>
#include <limits>

#include "core/backend/cpu/block_products.h"
#include "core/backend/cpu/dispatch.h"
#include "core/backend/cpu/parallel.h"
#include "core/backend/cpu/random_words.h"
#include "core/backend/cpu/rows.h"
#include "core/device/device.h"

namespace gpubench::cpu {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

std::int64_t whole_vectors(std::int64_t count) {
  return (count + lane_count - 1) / lane_count * lane_count;
}

std::int64_t parts_of(std::int64_t count, std::int64_t size) {
  return (count + size - 1) / size;
}

/// A number that is subtracted before exp: without any key, 0 instead of -infinity keeps NaN away.
float finite_shift(float largest) {
  return largest == minus_infinity ? 0.0F : largest;
}

/// Adds the mask of query `i` to its products with the keys of the block.
class MaskRows {
 public:
  MaskRows(const AttentionBlocks& blocks, const BlockPlace& place)
      : dtype_(blocks.mask_dtype),
        of_query_(blocks.strides[2]),
        of_key_(blocks.strides[3]),
        mask_(place.beside.mask),
        first_(place.batch * blocks.strides[0] + place.head * blocks.strides[1] +
               place.key_block * key_block * blocks.strides[3]) {}

  void add_to(float* row, std::int64_t i, std::int64_t count) const {
    if (mask_ == nullptr) return;
    switch (dtype_) {
      case Dtype::boolean:
        return add<bool>(row, i, count);
      case Dtype::f16:
        return add<math::Float16>(row, i, count);
      case Dtype::bf16:
        return add<math::Bfloat16>(row, i, count);
      default:
        return add<float>(row, i, count);
    }
  }

 private:
  template <class T>
  void add(float* row, std::int64_t i, std::int64_t count) const {
    const T* const mask = reinterpret_cast<const T*>(mask_) + first_ + i * of_query_;
    for (std::int64_t c = 0; c < count; ++c) {
      if constexpr (std::is_same_v<T, bool>) {
        row[c] = mask[c * of_key_] ? row[c] : minus_infinity;
      } else {
        row[c] += widen(mask[c * of_key_]);
      }
    }
  }

  Dtype dtype_;
  std::int64_t of_query_, of_key_;
  const std::byte* mask_;
  std::int64_t first_;
};

/// Drops weights: the words of one row of a block.
class DroppedRows {
 public:
  DroppedRows(const AttentionBlocks& blocks, const BlockPlace& place)
      : drops_(blocks.options.dropout > 0),
        threshold_(static_cast<std::uint32_t>(blocks.options.dropout * 0x1p32)),
        scale_(static_cast<float>(1 / (1 - blocks.options.dropout))),
        seed_(blocks.options.seed),
        step_(place.beside.step),
        row_counters_(blocks.extents.random_row() / math::philox_block * math::philox_lanes) {
    const AttentionExtents& extents = blocks.extents;
    const std::int64_t rows_before =
        ((blocks.options.first + place.batch) * extents.heads + place.head) * extents.queries;
    first_counter_ = rows_before * row_counters_ + place.key_block * math::philox_lanes;
  }
  bool any() const { return drops_; }

  /// The factor of each weight of query `i`: 0 where it is dropped.
  void factors(std::int64_t i, float* row) const {
    static_assert(key_block == math::philox_block);
    WordBlock random;
    fill_words(random, seed_, step_, static_cast<std::uint64_t>(first_counter_ + i * row_counters_));
#pragma omp simd
    for (std::int64_t c = 0; c < key_block; ++c) row[c] = random.words[c] >= threshold_ ? scale_ : 0.0F;
  }

 private:
  bool drops_;
  std::uint32_t threshold_;
  float scale_;
  std::uint64_t seed_, step_;
  std::int64_t row_counters_, first_counter_ = 0;
};

/// Products of the queries with the keys of the block, masked: -infinity in the columns of keys that a query does not
/// attend to, and behind the last key.
class MaskedProducts {
 public:
  MaskedProducts(const AttentionBlocks& blocks, const BlockPlace& place)
      : blocks_(blocks), place_(place), mask_(blocks, place), count_(blocks.keys_in(place.key_block)) {}

  void compute(const float* q, const float* k_columns, float* rows) const {
    products<Onto::nothing>(blocks_.queries_in(place_.query_block), whole_vectors(count_), blocks_.extents.dim,
                            {q, blocks_.dim, 1}, k_columns, key_block, rows, key_block);
  }

  void mask_row(std::int64_t r, float* row) const {
    const std::int64_t i = place_.query_block * query_block + r;
    mask_.add_to(row, i, count_);
    std::int64_t seen = count_;
    if (blocks_.options.causal) seen = std::clamp<std::int64_t>(i + 1 - place_.key_block * key_block, 0, count_);
    std::fill(row + seen, row + key_block, minus_infinity);
  }

 private:
  const AttentionBlocks& blocks_;
  const BlockPlace& place_;
  MaskRows mask_;
  std::int64_t count_;
};

}  // namespace

AttentionBlocks::AttentionBlocks(const AttentionOptions& chosen, const Signature& signature)
    : extents(signature.inputs[0], signature.inputs[1], signature.inputs[2]),
      options(chosen),
      dim(whole_vectors(extents.dim)),
      value_dim(whole_vectors(extents.value_dim)),
      query_blocks(parts_of(extents.queries, query_block)),
      key_blocks(parts_of(extents.keys, key_block)) {
  if (!options.mask) return;
  mask_dtype = signature.inputs[3].dtype;
  strides = mask_strides(signature.inputs[3]);
}

int threads_for_attention(const Op& op, const Signature& signature, std::int64_t tasks, Device& device) {
  device.bind_to_thread();
  return threads_for_stream(tasks, 0, static_cast<std::int64_t>(op.flops(signature.inputs, signature.outputs)));
}

BesideInputs::BesideInputs(const AttentionOptions& options, std::span<const TensorView> inputs) {
  std::size_t next = 3;
  if (options.mask) mask = inputs[next++].data;
  if (options.dropout > 0) step = static_cast<std::uint64_t>(*inputs[next].as<std::int64_t>());
}

std::int64_t AttentionBlocks::queries_in(std::int64_t block) const {
  return std::min(query_block, extents.queries - block * query_block);
}

std::int64_t AttentionBlocks::keys_in(std::int64_t block) const {
  return std::min(key_block, extents.keys - block * key_block);
}

std::int64_t AttentionBlocks::block_in_turn(std::int64_t turn, std::int64_t count) const {
  if (!options.causal) return turn;
  return turn % 2 == 0 ? turn / 2 : count - 1 - turn / 2;
}

std::int64_t AttentionBlocks::key_blocks_of(std::int64_t block) const {
  if (!options.causal) return key_blocks;
  return std::min(key_blocks, parts_of(block * query_block + queries_in(block), key_block));
}

std::int64_t AttentionBlocks::first_query_block_of(std::int64_t block) const {
  return options.causal ? block * key_block / query_block : 0;
}

void begin_softmax(const AttentionBlocks& blocks, const SoftmaxState& state) {
  std::fill_n(state.values, query_block * blocks.value_dim, 0.0F);
  std::fill_n(state.largest, query_block, minus_infinity);
  std::fill_n(state.sum, query_block, 0.0F);
}

void add_keys(const AttentionBlocks& blocks, const BlockPlace& place, const float* q, const float* k_columns,
              const float* v, const BlockScratch& scratch, const SoftmaxState& state) {
  const MaskedProducts masked(blocks, place);
  const DroppedRows dropped(blocks, place);
  const std::int64_t rows = blocks.queries_in(place.query_block);
  masked.compute(q, k_columns, scratch.weights);
  for (std::int64_t r = 0; r < rows; ++r) {
    float* const row = scratch.weights + r * key_block;
    masked.mask_row(r, row);
    const float largest = std::max(state.largest[r], row_max(row, key_block)), shift = finite_shift(largest);
#pragma omp simd
    for (std::int64_t c = 0; c < key_block; ++c) row[c] = math::exp(row[c] - shift);
    const float kept = math::exp(state.largest[r] - shift);
    state.sum[r] = state.sum[r] * kept + row_sum(row, key_block);
    state.largest[r] = largest;
    if (kept != 1.0F) {
      float* const values = state.values + r * blocks.value_dim;
#pragma omp simd
      for (std::int64_t d = 0; d < blocks.value_dim; ++d) values[d] *= kept;
    }
    if (!dropped.any()) continue;
    float* const factors = scratch.slopes;
    dropped.factors(place.query_block * query_block + r, factors);
#pragma omp simd
    for (std::int64_t c = 0; c < key_block; ++c) row[c] *= factors[c];
  }
  products<Onto::result>(rows, blocks.value_dim, blocks.keys_in(place.key_block), {scratch.weights, key_block, 1}, v,
                         blocks.value_dim, state.values, blocks.value_dim);
}

void add_gradients(const AttentionBlocks& blocks, const BlockPlace& place, const QueryGradient& queries,
                   const KeyGradient& keys, const BlockScratch& scratch) {
  const MaskedProducts masked(blocks, place);
  const DroppedRows dropped(blocks, place);
  const std::int64_t rows = blocks.queries_in(place.query_block), count = blocks.keys_in(place.key_block);
  float *const weights = scratch.weights, *const slopes = scratch.slopes;
  masked.compute(queries.q, keys.k_columns, weights);
  products<Onto::nothing>(rows, whole_vectors(count), blocks.extents.value_dim, {queries.dout, blocks.value_dim, 1},
                          keys.v_columns, key_block, slopes, key_block);
  for (std::int64_t r = 0; r < rows; ++r) {
    float *const weight = weights + r * key_block, *const slope = slopes + r * key_block;
    masked.mask_row(r, weight);
    const float shift = finite_shift(queries.log_sums[r]), rest = queries.log_rests[r], dot = queries.dots[r];
    if (!dropped.any()) {
#pragma omp simd
      for (std::int64_t c = 0; c < key_block; ++c) {
        weight[c] = math::exp(weight[c] - shift - rest);
        slope[c] = weight[c] * (slope[c] - dot);
      }
      continue;
    }
    alignas(64) float factors[key_block];
    dropped.factors(place.query_block * query_block + r, factors);
#pragma omp simd
    for (std::int64_t c = 0; c < key_block; ++c) {
      const float before = math::exp(weight[c] - shift - rest);
      weight[c] = before * factors[c];
      slope[c] = before * (slope[c] * factors[c] - dot);
    }
  }
  const LeftFactor by_query_weights{weights, 1, key_block}, by_query_slopes{slopes, 1, key_block};
  if (keys.dv != nullptr) {
    products<Onto::result>(count, blocks.value_dim, rows, by_query_weights, queries.dout, blocks.value_dim, keys.dv,
                           blocks.value_dim);
    products<Onto::result>(count, blocks.dim, rows, by_query_slopes, queries.q, blocks.dim, keys.dk, blocks.dim);
  }
  if (queries.dq != nullptr) {
    products<Onto::result>(rows, blocks.dim, count, {slopes, key_block, 1}, keys.k, blocks.dim, queries.dq, blocks.dim);
  }
}

}  // namespace gpubench::cpu
