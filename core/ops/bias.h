// Adds one number per channel; the gradient sums over all dimensions but the channels.
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// x [..., channels], bias [channels] -> x + bias
class BiasAdd final : public Op {
 public:
  std::string_view name() const override { return "bias_add"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  /// Becomes an Add: each element of the block may have its own bias, which is not one number per channel.
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;
};

/// dy [..., channels] -> [channels]
class BiasGradient final : public Op {
 public:
  std::string_view name() const override { return "bias_gradient"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  /// One addition per input element.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

namespace ops {

Value bias_add(Graph& graph, Value x, Value bias);
Value bias_gradient(Graph& graph, Value dy);

}  // namespace ops
}  // namespace gpubench
