// CategoryEncoding and Discretization: categories and ranges of numbers as indices, or as counts of each index.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/known_names.h"
#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/indexing.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

enum class CategoryMode : std::uint8_t { count, multi_hot, one_hot, index };

/// `modes`: how many of them a layer has.
CategoryMode category_mode(const Config& config, std::size_t modes) {
  constexpr std::array<std::string_view, 4> names{"count", "multi_hot", "one_hot", "int"};
  const std::span<const std::string_view> known = std::span(names).first(modes);
  const auto found = std::ranges::find(known, config.text("output_mode"));
  if (found == known.end()) {
    throw_unknown_name(fmt::format("{}: unknown output_mode", config.owner()), config.text("output_mode"), known);
  }
  return static_cast<CategoryMode>(found - known.begin());
}

/// Of indices of this shape of an example: what one_hot appends to, and what counts take away.
Shape category_shape(const Layer& layer, CategoryMode mode, Shape shape, std::int64_t depth) {
  if (mode == CategoryMode::one_hot) {
    if (!shape.empty() && shape.back() == 1) shape.pop_back();
    shape.push_back(depth);
    return shape;
  }
  if (shape.size() == 1) return {depth};
  layer.fail(fmt::format("counts the indices [n] of an example, got {}; output_mode = 'one_hot' takes all shapes",
                         to_string(shape)));
}

/// `indices` [batch, ...] as category_shape() says. `weights`: of each index in counts; none: 1.
Value encoded_categories(Graph& graph, CategoryMode mode, Value indices, Value weights, std::int64_t depth,
                         Dtype dtype) {
  Shape shape = graph.type(indices).shape;
  if (mode == CategoryMode::one_hot && shape.size() > 1 && shape.back() == 1) shape.pop_back();
  const Value hot = ops::one_hot(graph, ops::reshape(graph, indices, shape), depth, Dtype::f32);
  const auto encoded = [&] {
    if (mode == CategoryMode::one_hot) return hot;
    if (mode == CategoryMode::multi_hot) return ops::reduce_max(graph, hot, {1});
    if (!weights) return ops::reduce_sum(graph, hot, {1});
    const Value factors = ops::cast(graph, ops::reshape(graph, weights, {shape[0], shape[1], 1}), Dtype::f32);
    return ops::reduce_sum(graph, ops::mul(graph, hot, factors), {1});
  };
  return ops::cast(graph, encoded(), dtype);
}

class CategoryEncoding final : public Layer {
 public:
  CategoryEncoding(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)),
        tokens_(config().integer_from("num_tokens", 1)),
        mode_(category_mode(config(), 3)) {}
  std::string default_name() const override { return "category_encoding"; }
  Channels channels() const override { return Channels::unknown; }
  TensorType output_type(TensorTypes inputs) const override {
    const std::size_t most = mode_ == CategoryMode::count ? 2 : 1;
    if (inputs.empty() || inputs.size() > most) {
      fail(fmt::format("takes indices{}, got {} inputs", most == 2 ? ", and weights of them" : "", inputs.size()));
    }
    const TensorType& input = inputs[0];
    if (input.dtype == Dtype::bytes) {
      fail(fmt::format("expects numbers, categories from 0 to {}, got {}", tokens_ - 1, to_string(input)));
    }
    if (inputs.size() == 2 && (inputs[1].shape != input.shape || !is_floating(inputs[1].dtype))) {
      fail(fmt::format("the weights must be floating-point {}, one for each index, got {}", to_string(input.shape),
                       to_string(inputs[1])));
    }
    return {category_shape(*this, mode_, input.shape, tokens_), policy().compute};
  }

 private:
  bool casts_inputs() const override { return false; }
  Value apply(const CallContext& context, Values inputs) const override {
    return encoded_categories(context.graph, mode_, indices(context.graph, inputs[0]),
                              inputs.size() > 1 ? inputs[1] : Value{}, tokens_, policy().compute);
  }

  std::int64_t tokens_;
  CategoryMode mode_;
};

/// The number of boundaries at or below x.
class Discretization final : public Layer {
 public:
  Discretization(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), mode_(category_mode(config(), 4)) {
    const std::vector<double>& bounds = config().numbers("bin_boundaries");
    if (!bounds.empty() && std::ranges::is_sorted(bounds)) return;
    throw Error(fmt::format("Discretization: bin_boundaries must be rising numbers, at least one, got {}",
                            to_string(ConfigValue(bounds))));
  }
  std::string default_name() const override { return "discretization"; }
  Channels channels() const override { return Channels::unknown; }
  TensorType output_type(TensorTypes inputs) const override {
    if (inputs.size() != 1) fail(fmt::format("takes one input, got {}", inputs.size()));
    if (inputs[0].dtype == Dtype::bytes) fail(fmt::format("expects numbers, got {}", to_string(inputs[0])));
    if (mode_ == CategoryMode::index) return {inputs[0].shape, Dtype::i32};
    return {category_shape(*this, mode_, inputs[0].shape, bins()), policy().compute};
  }

 private:
  std::int64_t bins() const { return std::ssize(config().numbers("bin_boundaries")) + 1; }

  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    Shape apart = graph.type(inputs[0]).shape;
    apart.push_back(1);
    HostTensor bounds(TensorType{{bins() - 1}, Dtype::f32});
    std::ranges::transform(config().numbers("bin_boundaries"), bounds.values<float>().begin(),
                           [](double bound) { return static_cast<float>(bound); });
    const Value x = ops::reshape(graph, ops::cast(graph, inputs[0], Dtype::f32), apart);
    const Value reached = ops::cast(graph, ops::greater_equal(graph, x, graph.constant(bounds)), Dtype::f32);
    const Value index = ops::cast(graph, ops::reduce_sum(graph, reached, {-1}), Dtype::i32);
    if (mode_ == CategoryMode::index) return index;
    return encoded_categories(graph, mode_, index, {}, bins(), policy().compute);
  }

  CategoryMode mode_;
};

}  // namespace

LayerKind category_encoding() {
  return {"CategoryEncoding",
          {"num_tokens", "output_mode"},
          {{"num_tokens", std::int64_t{0}, true}, {"output_mode", std::string("multi_hot")}},
          &construct_layer<CategoryEncoding>};
}
LayerKind discretization() {
  return {"Discretization",
          {"bin_boundaries"},
          {{"bin_boundaries", std::vector<double>(), true}, {"output_mode", std::string("int")}},
          &construct_layer<Discretization>};
}

}  // namespace gpubench::nn
