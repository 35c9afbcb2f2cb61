// The same elements in the reverse order along some axes.
#pragma once
#include "core/ops/shape_ops.h"

namespace gpubench {

class Reverse final : public MovementOp {
 public:
  /// Negative axes count from the end.
  explicit Reverse(std::vector<std::int64_t> along) : axes(std::move(along)) {}
  std::string_view name() const override { return "reverse"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  /// One flag per dimension of `type`. Throws Error for a bad axis.
  std::vector<bool> reversed(const TensorType& type) const;

  const std::vector<std::int64_t> axes;
};

}  // namespace gpubench
