// Ops that move elements without arithmetic: reshape, transpose, reverse, slice, concat, broadcast (one_hot and gather
// are in indexing.h). Reshape and stop_gradient are views and have no kernel; all others copy.
#pragma once
#include <limits>

#include "core/graph/graph.h"
#include "core/graph/op.h"

namespace gpubench {

/// Moves bytes only: zero floating-point operations.
class MovementOp : public Op {
 public:
  double flops(TensorTypes, TensorTypes) const final { return 0; }
};

class Reshape final : public MovementOp {
 public:
  /// One extent may be -1: it is computed from the others.
  explicit Reshape(Shape to) : shape(std::move(to)) {}
  std::string_view name() const override { return "reshape"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::view}}; }
  double bytes(TensorTypes, TensorTypes) const override { return 0; }
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  const Shape shape;
};

class Transpose final : public MovementOp {
 public:
  /// Output dimension i is input dimension permutation[i]; an empty permutation reverses all.
  explicit Transpose(std::vector<std::int64_t> order = {}) : permutation(std::move(order)) {}
  std::string_view name() const override { return "transpose"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  /// The explicit permutation for an input of this type. Throws Error if it is invalid.
  std::vector<std::int64_t> order(const TensorType& type) const;

  const std::vector<std::int64_t> permutation;
};

/// Begin, end (exclusive) and stride per dimension. Dimensions without an entry are kept whole. Throws Error for bounds
/// outside of the input, and for empty ranges unless begin equals end.
struct SliceRange {
  static constexpr std::int64_t to_end = std::numeric_limits<std::int64_t>::max();

  std::vector<std::int64_t> begin, end;  ///< negative: counted from the end
  std::vector<std::int64_t> stride;      ///< at least 1; empty: all 1
};

/// A slice with explicit numbers for one input: begin >= 0, one entry per dimension.
struct ResolvedSlice {
  Shape begin, stride, shape;
};

class Slice final : public MovementOp {
 public:
  explicit Slice(SliceRange of) : range(std::move(of)) {}
  std::string_view name() const override { return "slice"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  double bytes(TensorTypes inputs, TensorTypes outputs) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  ResolvedSlice resolve(const TensorType& type) const;

  const SliceRange range;
};

/// dy -> dx of the input's shape: dy at the slice's elements, else 0. Also pads with zeros.
class SliceGradient final : public MovementOp {
 public:
  SliceGradient(Shape input, SliceRange of) : input_shape(std::move(input)), range(std::move(of)) {}
  std::string_view name() const override { return "slice_gradient"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;

  ResolvedSlice resolve() const;

  const Shape input_shape;
  const SliceRange range;
};

class Concat final : public MovementOp {
 public:
  explicit Concat(std::int64_t along) : axis(along) {}
  std::string_view name() const override { return "concat"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  const std::int64_t axis;
};

class BroadcastTo final : public MovementOp {
 public:
  explicit BroadcastTo(Shape to) : shape(std::move(to)) {}
  std::string_view name() const override { return "broadcast_to"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  const Shape shape;
};

class Reverse final : public MovementOp {
 public:
  /// Negative axes count from the end.
  explicit Reverse(std::vector<std::int64_t> along) : axes(std::move(along)) {}
  std::string_view name() const override { return "reverse"; }
  std::string attributes() const override;
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph& graph, Values inputs, Values outputs, Values output_gradients) const override;
  std::optional<BlockForm> block_form(std::span<const BlockInput> inputs, std::int64_t count) const override;

  /// For each dimension of `type`: whether it is reversed. Throws Error for an invalid axis.
  std::vector<bool> reversed(const TensorType& type) const;

  const std::vector<std::int64_t> axes;
};

/// The same values, which count as constant where gradients are taken.
class StopGradient final : public MovementOp {
 public:
  std::string_view name() const override { return "stop_gradient"; }
  std::vector<TensorType> infer(TensorTypes inputs) const override;
  std::vector<Value> gradient(Graph&, Values, Values, Values) const override { return {zero_gradient}; }
  std::vector<Alias> aliases() const override { return {{0, 0, Alias::Kind::view}}; }
  double bytes(TensorTypes, TensorTypes) const override { return 0; }
  std::optional<BlockForm> block_form(std::span<const BlockInput>, std::int64_t) const override { return BlockForm{}; }
};

namespace ops {

/// `x` itself if it already has the shape.
Value reshape(Graph& graph, Value x, Shape shape);
Value transpose(Graph& graph, Value x, std::vector<std::int64_t> permutation = {});
Value slice(Graph& graph, Value x, SliceRange range);
Value slice_gradient(Graph& graph, Value dy, Shape input_shape, SliceRange range);
/// x between zeros: `before` and `after` are the numbers of zeros of the first dimensions, 0 where they end.
Value pad(Graph& graph, Value x, Shape before, Shape after);
Value concat(Graph& graph, Values parts, std::int64_t axis);
/// Part `index` of `parts` equal parts along the first dimension: a view if it begins at an aligned address, else a
/// copy. `x` itself if there is one part.
Value batch_part(Graph& graph, Value x, std::int64_t index, std::int64_t parts);
/// `x` itself if it already has the shape.
Value broadcast_to(Graph& graph, Value x, Shape shape);

}  // namespace ops
}  // namespace gpubench
