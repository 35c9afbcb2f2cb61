// Reductions over axes, running sums along one axis, and the sum that reverses broadcasting.
#pragma once
#include <memory>
#include <utility>

#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

class ReductionOp : public Op {
 public:
  /// No axes: all of them. Negative axes count from the end.
  explicit ReductionOp(std::vector<std::int64_t> over = {}, bool keep = false)
      : axes(std::move(over)), keepdims(keep) {}
  std::string attributes() const final;
  std::vector<TensorType> infer(TensorTypes inputs) const final;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const final;
  double flops(TensorTypes inputs, TensorTypes outputs) const final;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const final;

  /// For each dimension of `type`: whether it is reduced. Throws Error for an invalid axis.
  std::vector<bool> reduced(const TensorType& type) const;

  const std::vector<std::int64_t> axes;
  const bool keepdims;

 protected:
  virtual void check(const TensorType& type) const;
  /// The same reduction over other axes.
  virtual OpPtr over(std::vector<std::int64_t> other) const = 0;
  /// y and dy keep the reduced dimensions as 1, so that they broadcast to x.
  virtual Value derivative(Graph& graph, Value x, Value y, Value dy) const = 0;
};

class ReduceSum final : public ReductionOp {
 public:
  using ReductionOp::ReductionOp;
  std::string_view name() const override { return "reduce_sum"; }

 protected:
  OpPtr over(std::vector<std::int64_t> other) const override {
    return std::make_shared<const ReduceSum>(std::move(other), keepdims);
  }
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// Floating-point only.
class ReduceMean final : public ReductionOp {
 public:
  using ReductionOp::ReductionOp;
  std::string_view name() const override { return "reduce_mean"; }

 protected:
  OpPtr over(std::vector<std::int64_t> other) const override {
    return std::make_shared<const ReduceMean>(std::move(other), keepdims);
  }
  void check(const TensorType& type) const override;
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// Elements equal to the maximum share its gradient equally.
class ReduceMax final : public ReductionOp {
 public:
  using ReductionOp::ReductionOp;
  std::string_view name() const override { return "reduce_max"; }

 protected:
  OpPtr over(std::vector<std::int64_t> other) const override {
    return std::make_shared<const ReduceMax>(std::move(other), keepdims);
  }
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// Elements equal to the minimum share its gradient equally.
class ReduceMin final : public ReductionOp {
 public:
  using ReductionOp::ReductionOp;
  std::string_view name() const override { return "reduce_min"; }

 protected:
  OpPtr over(std::vector<std::int64_t> other) const override {
    return std::make_shared<const ReduceMin>(std::move(other), keepdims);
  }
  Value derivative(Graph& graph, Value x, Value y, Value dy) const override;
};

/// The index of the largest element along one axis as int64; the first of equal ones. No gradient.
class ArgMax final : public Op {
 public:
  explicit ArgMax(std::int64_t along) : axis(along) {}
  std::string_view name() const override { return "arg_max"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  const std::int64_t axis;
};

/// y[i] = x[0] + ... + x[i] along one axis; `reverse`: x[i] + ... + x[last]. y may overwrite x.
class Cumsum final : public Op {
 public:
  explicit Cumsum(std::int64_t along, bool from_the_end = false) : axis(along), reverse(from_the_end) {}
  std::string_view name() const override { return "cumsum"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  const std::int64_t axis;
  const bool reverse;
};

namespace ops {

Value reduce_sum(Graph& graph, Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
Value reduce_mean(Graph& graph, Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);
Value reduce_max(Graph& graph, Value x, std::vector<std::int64_t> axes = {}, bool keepdims = false);

/// The gradient of broadcasting: sums `value` over the dimensions along which `shape` was broadcast. Returns `value`
/// itself if it has the shape.
Value sum_to(Graph& graph, Value value, Shape shape);

}  // namespace ops
}  // namespace gpubench
