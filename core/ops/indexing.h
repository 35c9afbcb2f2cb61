// Ops with index inputs: one-hot encoding, gather, and updates of rows. An index out of range is an Error when the
// kernel runs, never a silent zero; on a GPU, where the host does not wait, it gives a row of NaN.
#pragma once
#include <utility>

#include "core/graph/graph.h"
#include "core/graph/op.h"
#include "core/ops/shape_ops.h"

namespace gpubench {

/// Integers of any shape -> [..., depth] of `dtype` with 1 at the index. No gradient.
class OneHot final : public Op {
 public:
  explicit OneHot(std::int64_t classes, Dtype type = Dtype::f32) : depth(classes), dtype(type) {}
  std::string_view name() const override { return "one_hot"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }

  const std::int64_t depth;
  const Dtype dtype;
};

/// params [rows, ...], integers of any shape -> [indices..., ...]: rows of params.
class Gather final : public Op {
 public:
  /// What an index stands for in the error for one out of range.
  enum class Of : std::uint8_t { rows, tokens };
  explicit Gather(Of indexed = Of::rows) : of(indexed) {}
  std::string_view name() const override { return "gather"; }
  std::string attributes() const override { return of == Of::tokens ? "of=tokens" : ""; }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes, TensorTypes) const override { return 0; }
  double bytes(TensorTypes inputs, TensorTypes outputs) const override;
  /// For gathering from one tensor that all elements share.
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t) const override {
    if (!inputs[0].shared) return std::nullopt;
    return BlockForm{.inputs = BlockForm::Inputs::as_they_are};
  }

  const Of of;
};

/// dy [indices..., ...], indices -> [rows, ...]: for each row the sum of the gradients of its uses.
class GatherGradient final : public Op {
 public:
  explicit GatherGradient(std::int64_t of) : rows(of) {}
  std::string_view name() const override { return "gather_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double flops(TensorTypes inputs, TensorTypes outputs) const override;

  const std::int64_t rows;
};

/// Integers [..., n], each row a place in a tensor of these n extents, counted from 0 -> int64 [...]: the place's
/// number when the dimensions are merged. No gradient. On a GPU the number of a place that does not exist is -1.
class FlatIndex final : public MovementOp {
 public:
  static constexpr std::size_t most_axes = 8;

  /// Errors name the function `caller`, and its axes from `first_axis` on.
  FlatIndex(Shape dimensions, std::string caller, int first_axis = 0)
      : extents(std::move(dimensions)), of(std::move(caller)), first(first_axis) {}
  std::string_view name() const override { return "flat_index"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }

  const Shape extents;
  const std::string of;
  const int first;
};

/// x [rows, ...], integers of any shape, updates [indices..., ...] -> x with these rows in place of its own. Of several
/// updates of a row the last one stays. On a GPU an index out of range makes the first row NaN.
class ScatterUpdate final : public MovementOp {
 public:
  std::string_view name() const override { return "scatter_update"; }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::may_overwrite}}; }
  double bytes(TensorTypes inputs, TensorTypes outputs) const override;
};

namespace ops {

Value scatter_update(Graph& graph, Value x, Value indices, Value updates);
Value one_hot(Graph& graph, Value indices, std::int64_t depth, Dtype dtype = Dtype::f32);
Value gather(Graph& graph, Value params, Value indices, Gather::Of of = Gather::Of::rows);
Value gather_gradient(Graph& graph, Value dy, Value indices, std::int64_t rows);

}  // namespace ops
}  // namespace gpubench
