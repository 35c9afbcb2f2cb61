// Whether predictions match their labels, one float32 per example (1 or 0), as input of AccumulateMean; and the sums
// for a mean over several replicas. No gradients.
#pragma once
#include "core/ops/simple_op.h"

namespace gpubench {

/// predictions float32 [batch, classes], labels one-hot float32 [batch, classes] or integers [batch] or [batch, 1] ->
/// float32 [batch]: whether the label is among the k largest predictions. Of equal predictions the first counts as
/// larger, so k = 1 tests whether the label is the arg_max; NaN never matches.
class TopKMatches final : public Op {
 public:
  explicit TopKMatches(std::int64_t count) : k(count) {}
  std::string_view name() const override { return "top_k_matches"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const std::int64_t k;
};

/// predictions, labels float32 of one shape -> float32 of that shape: whether both are on the same side of the
/// threshold.
class BinaryMatches final : public Op {
 public:
  explicit BinaryMatches(double boundary) : threshold(boundary) {}
  std::string_view name() const override { return "binary_matches"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;

  const double threshold;
};

/// values float32 of any shape -> float32[2]: their sum and count, which replicas can add up.
struct SumAndCount final : SimpleOp {
  SumAndCount();
};

namespace ops {

Value top_k_matches(Graph& graph, Value predictions, Value labels, std::int64_t k = 1);
Value binary_matches(Graph& graph, Value predictions, Value labels, double threshold = 0.5);

Value sum_and_count(Graph& graph, Value values);

}  // namespace ops
}  // namespace gpubench
