// Scaled dot-product attention as one op: softmax(q k' scale + mask) v for each head, without the matrix of weights in
// memory. Forward saves the log of each row's sum of exponentials; the gradient computes the weights again from it,
// block by block (Dao, "FlashAttention-2", 2023), so that memory grows linearly with the sequence. Heads stand behind
// time, as a Dense layer writes them, so that nothing is transposed.
#pragma once
#include <array>

#include "core/graph/graph.h"

namespace gpubench {

struct AttentionOptions {
  double scale = 1;     ///< of the products q k'
  bool causal = false;  ///< query i attends to the keys 0 to i
  bool mask = false;    ///< whether there is an input `mask`
  /// Share of the weights that is dropped, 0 <= dropout < 1; above 0 there is an input `step`.
  double dropout = 0;
  std::uint64_t seed = 0;
  /// If the batch is a part of a larger one: the index of its first example there, so that all parts drop the same.
  std::int64_t first = 0;
  bool operator==(const AttentionOptions&) const = default;
};

/// q [batch, queries, heads, dim], k [batch, keys, groups, dim], v [batch, keys, groups, value_dim]. Each group of keys
/// and values is shared by heads / groups neighbouring heads.
struct AttentionExtents {
  std::int64_t batch = 0, queries = 0, keys = 0, heads = 0, groups = 0, dim = 0, value_dim = 0;

  AttentionExtents(const TensorType& q, const TensorType& k, const TensorType& v);
  std::int64_t heads_per_group() const { return heads / groups; }
  /// The queries of all heads of the batch.
  std::int64_t all_queries() const { return batch * heads * queries; }
  /// Pairs of a query and a key that it attends to, over all heads.
  double pairs(bool causal) const;
  /// Each row of weights has as many random numbers as keys, rounded up to whole blocks of random numbers.
  std::int64_t random_row() const;
};

/// Strides in elements for [batch, head, query, key], 0 where the mask is stretched.
std::array<std::int64_t, 4> mask_strides(const TensorType& mask);

/// q, k, v, mask if there is one, step if weights are dropped
/// -> the weighted values [batch, queries, heads, value_dim], and for the gradient the log of the sums of exponentials
/// float32[2, batch, heads, queries]: the sum of two numbers, since one float32 of 1e9, as a mask may add, has no
/// digits below 64. cuDNN's engines give and take the first one alone. The mask broadcasts to [batch, heads, queries,
/// keys]: bool (false: the query does not attend to the key), or of q's type or float32, added to the scaled products;
/// it has no rule for a gradient. A query that attends to no key gets zeros.
class Attention final : public Op {
 public:
  /// Throws Error for a scale or a dropout that is out of range.
  explicit Attention(AttentionOptions given);
  std::string_view name() const override { return "attention"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const AttentionOptions options;
};

/// q, k, v, mask and step as Attention, then its outputs and the gradient of the first one -> dq, dk, dv
class AttentionGradient final : public Op {
 public:
  explicit AttentionGradient(AttentionOptions given) : options(given) {}
  std::string_view name() const override { return "attention_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  /// Five products: the weights are computed a second time.
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  /// Index of the first output of Attention among the inputs.
  std::size_t outputs_at() const { return 3 + (options.mask ? 1U : 0U) + (options.dropout > 0 ? 1U : 0U); }

  const AttentionOptions options;
};

namespace ops {

struct AttentionInputs {
  Value query, key, value;
  Value mask{};  ///< none: no mask
  Value step{};  ///< needed if weights are dropped
};

/// The weighted values. Sets `options.mask` by the inputs.
Value attention(Graph& graph, const AttentionInputs& inputs, AttentionOptions options);

}  // namespace ops
}  // namespace gpubench
