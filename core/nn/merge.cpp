// Layers that join branches.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>

#include "core/base/error.h"
#include "core/nn/axis.h"
#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// What a masked step is for the others, as in Keras.
enum class Masked : std::uint8_t {
  a_number,  ///< a number like all others
  one,       ///< 1 beside steps that are not masked; 0 where all are
  the_other  ///< as the other input's step
};

/// A layer that combines its inputs element by element, two at a time from the first on.
struct Combination {
  const char* kind;
  const char* default_name;
  Value (*combine)(Graph&, Value, Value);
  std::size_t most_inputs = 0;  ///< 0: any number
  bool mean = false;            ///< divided by the number of inputs
  Masked masked = Masked::a_number;
};

constexpr std::array combinations = {
    Combination{"Add", "add", &ops::add},
    Combination{"Average", "average", &ops::add, 0, true},
    Combination{"Maximum", "maximum", &ops::maximum, 0, false, Masked::the_other},
    Combination{"Minimum", "minimum", &ops::minimum, 0, false, Masked::the_other},
    Combination{"Multiply", "multiply", &ops::mul, 0, false, Masked::one},
    Combination{"Subtract", "subtract", &ops::sub, 2},
};

const Combination& combination_of(std::string_view kind) {
  return *std::ranges::find(combinations, kind, [](const Combination& row) { return std::string_view(row.kind); });
}

/// Inputs of one rank and type; extents of 1 are stretched.
class Merge final : public Layer {
 public:
  Merge(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), combination_(combination_of(kind())) {}
  std::string default_name() const override { return combination_.default_name; }
  MaskRule mask_rule() const override { return MaskRule::makes; }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  Value apply(const CallContext& context, Values inputs) const override;
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override;
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override {
    return {any_mask(context.graph, given.masks)};
  }
  Value combined_by_masks(Graph& graph, const LayerArguments& given) const;

  const Combination& combination_;
};

/// Inputs side by side along `axis`, counted with the batch as 0 or from the end; the default is the last.
class Concatenate final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "concatenate"; }
  MaskRule mask_rule() const override { return MaskRule::makes; }
  TensorType output_type(TensorTypes inputs) const override;

 private:
  std::vector<Value> output_masks(const CallContext& context, const LayerArguments& given) const override;
  Value apply(const CallContext& context, Values inputs) const override;
};

TensorType Merge::output_type(TensorTypes inputs) const {
  const std::size_t most = combination_.most_inputs;
  if (most > 0 && inputs.size() != most) fail(fmt::format("takes {} inputs, got {}", most, inputs.size()));
  if (inputs.size() < 2) fail(fmt::format("needs at least two inputs, got {}", inputs.size()));
  TensorType result = inputs[0];
  for (const TensorType& input : inputs.subspan(1)) {
    bool fits = input.dtype == result.dtype && input.rank() == result.rank();
    for (std::size_t i = 0; fits && i < result.shape.size(); ++i) {
      fits = input.shape[i] == result.shape[i] || input.shape[i] == 1 || result.shape[i] == 1;
      if (result.shape[i] == 1) result.shape[i] = input.shape[i];
    }
    if (fits) continue;
    fail(fmt::format("needs inputs of one type, whose extents are equal or 1, got {} and {}", to_string(inputs[0]),
                     to_string(input)));
  }
  return result;
}

Value Merge::apply(const CallContext& context, Values inputs) const {
  Graph& graph = context.graph;
  Value result = inputs[0];
  for (const Value input : inputs.subspan(1)) result = combination_.combine(graph, result, input);
  if (!combination_.mean) return result;
  const double share = 1.0 / static_cast<double>(inputs.size());
  return ops::mul(graph, result, ops::scalar(graph, share, graph.type(result).dtype));
}

/// Where only some inputs have masks, or the computation depends on them.
Value Merge::combined_by_masks(Graph& graph, const LayerArguments& given) const {
  Value result, kept;
  for (std::size_t i = 0; i < given.inputs.size(); ++i) {
    const Value mask = given.mask(i);
    Value x = given.inputs[i];
    if (combination_.masked == Masked::one) {
      if (mask) x = kept_by(graph, mask, x, 1);
    } else if (result) {
      if (mask) x = ops::select(graph, mask_beside(graph, mask, x), x, result);
      if (kept) result = ops::select(graph, mask_beside(graph, kept, x), result, x);
    }
    kept = i == 0 ? mask : any_mask(graph, {kept, mask});
    result = result ? combination_.combine(graph, result, x) : x;
  }
  return kept && combination_.masked == Masked::one ? kept_by(graph, kept, result) : result;
}

LayerOutputs Merge::apply_all(const CallContext& context, const LayerArguments& given) const {
  const bool masked = std::ranges::any_of(given.masks, [](Value mask) { return static_cast<bool>(mask); });
  if (!masked || combination_.masked == Masked::a_number) return Layer::apply_all(context, given);
  return {{combined_by_masks(context.graph, given)}, {}};
}

/// As in Keras, an input without a mask counts as not masked, and one mask is enough.
std::vector<Value> Concatenate::output_masks(const CallContext& context, const LayerArguments& given) const {
  Graph& graph = context.graph;
  if (std::ranges::none_of(given.masks, [](Value mask) { return static_cast<bool>(mask); })) return {};
  std::vector<Value> masks;
  for (std::size_t i = 0; i < given.inputs.size(); ++i) {
    Shape steps = graph.type(given.inputs[i]).shape;
    steps.pop_back();
    if (given.masks[i]) expect_mask(*this, graph, given.masks[i], given.inputs[i], steps.size());
    const Value all = ops::cast(graph, ops::scalar(graph, 1, Dtype::f32), Dtype::boolean);
    masks.push_back(given.masks[i] ? given.masks[i] : ops::broadcast_to(graph, all, steps));
  }
  const TensorType& type = graph.type(given.inputs[0]);
  const TensorType example{Shape(type.shape.begin() + 1, type.shape.end()), type.dtype};
  const std::size_t axis = example_axis(*this, config().integer("axis"), example) + 1;
  if (axis + 1 == type.shape.size()) return {any_mask(graph, masks)};
  return {ops::concat(graph, masks, static_cast<std::int64_t>(axis))};
}

TensorType Concatenate::output_type(TensorTypes inputs) const {
  if (inputs.size() < 2) fail(fmt::format("needs at least two inputs, got {}", inputs.size()));
  TensorType joined = inputs[0];
  const std::size_t axis = example_axis(*this, config().integer("axis"), joined);
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

Value Concatenate::apply(const CallContext& context, Values inputs) const {
  return ops::concat(context.graph, inputs, config().integer("axis"));
}

/// The sums of products of two inputs along one axis of each, for each combination of the other axes.
class Dot final : public Layer {
 public:
  Dot(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    const std::size_t count = config().shape("axes").size();
    if (count == 1 || count == 2) return;
    throw Error(fmt::format("Dot: axes must be one integer or one for each of two inputs, got {}",
                            to_string(config().shape("axes"))));
  }
  std::string default_name() const override { return "dot"; }
  MaskRule mask_rule() const override { return MaskRule::ends; }
  Channels channels() const override { return Channels::unknown; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 2) fail(fmt::format("takes two inputs, got {}", inputs.size()));
    TensorType result{{}, inputs[0].dtype};
    std::array<std::int64_t, 2> terms{};
    for (std::size_t i = 0; i < 2; ++i) {
      Shape rest = inputs[i].shape;
      const auto summed = rest.begin() + static_cast<std::ptrdiff_t>(example_axis(*this, axis(i), inputs[i]));
      terms[i] = *summed;
      rest.erase(summed);
      result.shape.insert(result.shape.end(), rest.begin(), rest.end());
    }
    if (terms[0] != terms[1] || !is_floating(result.dtype) || inputs[1].dtype != result.dtype) {
      fail(fmt::format("needs floating-point inputs of one type with equal extents along its axes {}, got {} and {}",
                       to_string(config().shape("axes")), to_string(inputs[0]), to_string(inputs[1])));
    }
    if (result.shape.empty()) result.shape = {1};
    return result;
  }

 private:
  std::int64_t axis(std::size_t input) const {
    const Shape& axes = config().shape("axes");
    return axes.size() == 1 ? axes[0] : axes[input];
  }
  /// [batch, rest, terms], the other axes in their order.
  Value rows_of(Graph& graph, Value x, std::size_t input) const {
    const Shape shape = graph.type(x).shape;
    const auto rank = static_cast<std::int64_t>(shape.size()), summed = (axis(input) + rank) % rank;
    std::vector<std::int64_t> order;
    std::int64_t rest = 1;
    for (std::int64_t i = 0; i < rank; ++i) {
      if (i == summed) continue;
      order.push_back(i);
      if (i > 0) rest *= shape[static_cast<std::size_t>(i)];
    }
    order.push_back(summed);
    const std::int64_t terms = shape[static_cast<std::size_t>(summed)];
    const Value rows = ops::reshape(graph, ops::transpose(graph, x, order), {shape[0], rest, terms});
    if (!config().flag("normalize")) return rows;
    // As in Keras, the length counts as at least 1e-7. Its square would overflow in float16.
    const Value wide = ops::cast(graph, rows, Dtype::f32);
    const Value squares = ops::reduce_sum(graph, ops::square(graph, wide), {2}, true);
    const Value least = ops::scalar(graph, 1e-14, Dtype::f32);
    const Value unit = ops::mul(graph, wide, ops::rsqrt(graph, ops::maximum(graph, squares, least)));
    return ops::cast(graph, unit, graph.type(rows).dtype);
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    std::vector<TensorType> examples;
    for (const Value input : inputs) {
      const Shape& shape = graph.type(input).shape;
      examples.push_back({Shape(shape.begin() + 1, shape.end()), graph.type(input).dtype});
    }
    Shape shape = output_type(examples).shape;
    shape.insert(shape.begin(), graph.type(inputs[0]).shape[0]);
    const Value a = rows_of(graph, inputs[0], 0), b = rows_of(graph, inputs[1], 1);
    return ops::reshape(graph, ops::matmul(graph, a, b, {.transpose_b = true}), shape);
  }
};

LayerKind merge_kind(const char* name) {
  return {name, {}, {}, &construct_layer<Merge>};
}

}  // namespace

LayerKind add() {
  return merge_kind("Add");
}
LayerKind average() {
  return merge_kind("Average");
}
LayerKind maximum() {
  return merge_kind("Maximum");
}
LayerKind minimum() {
  return merge_kind("Minimum");
}
LayerKind multiply() {
  return merge_kind("Multiply");
}
LayerKind subtract() {
  return merge_kind("Subtract");
}
LayerKind dot() {
  return {"Dot", {"axes", "normalize"}, {{"axes", Shape{}, true}, {"normalize", false}}, &construct_layer<Dot>};
}
LayerKind concatenate() {
  return {"Concatenate", {}, {{"axis", std::int64_t{-1}}}, &construct_layer<Concatenate>};
}

}  // namespace gpubench::nn
