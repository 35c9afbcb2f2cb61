// Sorting along the last dimension: one op gives the values and where they were, all or the first of them.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// x [..., n] -> its elements in order [..., count], and their places in x as int64. Equal elements keep their order;
/// what is not a number counts as the largest.
class Sort final : public Op {
 public:
  /// `first`: how many elements of the order are kept; 0: all.
  explicit Sort(bool largest_first = false, std::int64_t first = 0) : descending(largest_first), count(first) {}
  std::string_view name() const override { return "sort"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  /// The comparisons of a row: n log2(n).
  double flops(TensorTypes inputs, TensorTypes outputs) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }

  const bool descending;
  const std::int64_t count;
};

}  // namespace gpubench
