// Layers that join branches.
#include <fmt/format.h>

#include "core/nn/layer_kind.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// The sum of two or more inputs of one type.
class Add final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "add"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

/// Inputs side by side along `axis`, counted with the batch as 0 or from the end; the default is the last.
class Concatenate final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "concatenate"; }
  TensorType output_type(std::span<const TensorType> inputs) const override;

 private:
  /// Index into an example's shape.
  std::size_t dimension(const TensorType& example) const;
  Value apply(const CallContext& context, std::span<const Value> inputs) const override;
};

TensorType Add::output_type(std::span<const TensorType> inputs) const {
  if (inputs.size() < 2) fail(fmt::format("needs at least two inputs, got {}", inputs.size()));
  for (const TensorType& input : inputs) {
    if (input == inputs[0]) continue;
    fail(fmt::format("needs inputs of one type, got {} and {}", to_string(inputs[0]), to_string(input)));
  }
  return inputs[0];
}

Value Add::apply(const CallContext& context, std::span<const Value> inputs) const {
  Value sum = inputs[0];
  for (const Value input : inputs.subspan(1)) sum = ops::add(context.graph, sum, input);
  return sum;
}

std::size_t Concatenate::dimension(const TensorType& example) const {
  const std::int64_t axis = config().integer("axis");
  const std::int64_t index = axis < 0 ? example.rank() + axis : axis - 1;  // an example's shape lacks the batch
  if (index < 0 || index >= example.rank()) {
    fail(fmt::format("axis {} is the batch or not there; {} per example has the axes 1 to {} or -1 to -{}", axis,
                     to_string(example), example.rank(), example.rank()));
  }
  return static_cast<std::size_t>(index);
}

TensorType Concatenate::output_type(std::span<const TensorType> inputs) const {
  if (inputs.size() < 2) fail(fmt::format("needs at least two inputs, got {}", inputs.size()));
  TensorType joined = inputs[0];
  const std::size_t axis = dimension(joined);
  for (const TensorType& input : inputs.subspan(1)) {
    TensorType other = input;
    if (other.rank() == joined.rank()) other.shape[axis] = joined.shape[axis];
    if (other != joined) {
      fail(fmt::format("inputs may differ along axis {} only, got {} and {}", axis + 1, to_string(inputs[0]),
                       to_string(input)));
    }
    joined.shape[axis] += input.shape[axis];
  }
  return joined;
}

Value Concatenate::apply(const CallContext& context, std::span<const Value> inputs) const {
  const TensorType& type = context.graph.type(inputs[0]);
  const TensorType example{Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
  return ops::concat(context.graph, inputs, static_cast<int>(dimension(example)) + 1);
}

}  // namespace

LayerKind add() {
  return {"Add", {}, {}, &construct_layer<Add>};
}
LayerKind concatenate() {
  return {"Concatenate", {}, {{"axis", std::int64_t{-1}}}, &construct_layer<Concatenate>};
}

}  // namespace gpubench::nn
