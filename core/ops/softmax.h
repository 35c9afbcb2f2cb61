// Softmax and log-softmax over the last dimension, and their gradients, computed from the results.
#pragma once
#include "core/graph/graph.h"

namespace gpubench {

/// x [..., classes] -> exp(x) / sum(exp(x)), shifted by the maximum so that nothing overflows
class Softmax final : public Op {
 public:
  std::string_view name() const override { return "softmax"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }
  /// Maximum, subtract, exp, sum, divide: five per element.
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

/// dy, y -> y (dy - sum(dy y))
class SoftmaxGradient final : public Op {
 public:
  std::string_view name() const override { return "softmax_gradient"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

/// x [..., classes] -> x - log(sum(exp(x)))
class LogSoftmax final : public Op {
 public:
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }
  std::string_view name() const override { return "log_softmax"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

/// dy, y -> dy - exp(y) sum(dy)
class LogSoftmaxGradient final : public Op {
 public:
  std::string_view name() const override { return "log_softmax_gradient"; }
  std::vector<TensorType> infer(std::span<const TensorType> inputs) const override;
  std::vector<Value> gradient(Graph& graph, std::span<const Value> inputs, std::span<const Value> outputs,
                              std::span<const Value> output_gradients) const override;
  std::vector<Alias> aliases() const override;
  double flops(std::span<const TensorType> inputs, std::span<const TensorType> outputs) const override;
};

namespace ops {

Value softmax(Graph& graph, Value x);
Value softmax_gradient(Graph& graph, Value dy, Value y);
Value log_softmax_gradient(Graph& graph, Value dy, Value y);

}  // namespace ops
}  // namespace gpubench
