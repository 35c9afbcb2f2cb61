// Conversion between element types: the only op that changes a dtype. Floating to integer truncates toward zero;
// conversion to bool tests for non-zero.
#pragma once
#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

class Cast final : public Op {
 public:
  explicit Cast(Dtype to) : dtype(to) {}
  std::string_view name() const override { return "cast"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }

  const Dtype dtype;
};

/// float32 tensors -> each in float16 or bfloat16. Formed from the casts of a step's weights, for devices that compute
/// them in one kernel; created after autodiff.
class CastAll final : public Op {
 public:
  /// Throws Error for other types.
  explicit CastAll(Dtype to);
  std::string_view name() const override { return "cast_all"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }

  const Dtype dtype;
};

namespace ops {

/// `x` itself if it already has the type.
Value cast(Graph& graph, Value x, Dtype dtype);

}  // namespace ops
}  // namespace gpubench
