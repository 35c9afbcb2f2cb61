// MultiHeadAttention and GroupQueryAttention: products that make queries, keys and values of each head, attention of
// the heads, and a product that joins them. The variables have Keras' shapes, so that weights can be copied.
#include <cmath>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/ops/attention.h"
#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

struct Heads {
  std::int64_t of_queries, of_keys;  ///< of_keys: of the values too
  std::int64_t key_dim, value_dim;
};

/// Inputs: query; or query and value; or query, value and key; and behind them a mask, which is not floating-point.
/// What is missing is the value, and for a missing value the query.
class HeadAttention : public Layer {
 public:
  Channels channels() const final { return Channels::unknown; }
  bool draws() const final { return dropout_ > 0; }
  MaskRule mask_rule() const final { return MaskRule::passes; }
  bool reads_masks() const final { return true; }
  TensorType output_type(TensorTypes inputs) const final;

 protected:
  static std::vector<ConfigField> fields(std::vector<ConfigField> own) {
    own.insert(own.end(), {{"use_bias", true},
                           {"kernel_initializer", std::string("glorot_uniform")},
                           {"bias_initializer", std::string("zeros")},
                           {"seed", std::int64_t{-1}},
                           {"use_causal_mask", false}});
    return own;
  }

  HeadAttention(Config given, DeviceId device, Heads (*heads_of)(const Config&))
      : Layer(std::move(given), std::move(device)),
        heads_(heads_of(config())),
        dropout_(config().number_within("dropout", 0, 1)),
        seed_(static_cast<std::uint64_t>(config().integer("seed"))) {
    parse_initializer(config().text("kernel_initializer"));
    parse_initializer(config().text("bias_initializer"));
  }

  /// What a position of the output is, for queries of this width.
  virtual Shape output_shape(std::int64_t query_width) const = 0;

 private:
  /// A product with a kernel [in..., out...] and a bias [out...]; null without a bias.
  struct Projection {
    VariablePtr kernel, bias;
  };
  /// The inputs by their meaning; `mask` is null if there is none.
  template <class T>
  struct Parts {
    const T *query, *value, *key, *mask;
  };

  template <class T, class TypeOf>
  Parts<T> parts_of(std::span<const T> inputs, const TypeOf& type_of) const;
  void check_mask(const TensorType& mask, const TensorType& query, const TensorType& value) const;

  void make_variables(VariableFactory& factory, TensorTypes inputs) final;
  Projection make_projection(VariableFactory& factory, const std::string& name, Shape kernel, Shape bias);
  Value apply(const CallContext& context, Values inputs) const final {
    return apply_all(context, {.inputs = inputs}).values.front();
  }
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const final;
  /// [..., in] times the kernel, plus bias: [batch, time, out...].
  Value project(const CallContext& context, Value x, const Projection& projection, const Shape& out) const;
  Value broadcast_mask(Graph& graph, Value mask) const;
  /// Of the masks that came with the inputs, and the others; none without any.
  Value mask_of_inputs(Graph& graph, const Parts<Value>& parts, const LayerArguments& given) const;

  Heads heads_;
  double dropout_;
  std::uint64_t seed_;
  Projection query_, key_, value_, output_;
};

template <class T, class TypeOf>
HeadAttention::Parts<T> HeadAttention::parts_of(std::span<const T> inputs, const TypeOf& type_of) const {
  const bool masked = inputs.size() > 1 && !is_floating(type_of(inputs.back()).dtype);
  const T* const mask = masked ? &inputs.back() : nullptr;
  const auto given = inputs.first(inputs.size() - (masked ? 1 : 0));
  if (given.empty() || given.size() > 3) {
    fail(
        fmt::format("takes a query, a value, a key and a mask of integers or bools, of which only the query is needed, "
                    "got {} inputs",
                    inputs.size()));
  }
  const T* const value = given.size() > 1 ? &given[1] : given.data();
  return {given.data(), value, given.size() > 2 ? &given[2] : value, mask};
}

TensorType HeadAttention::output_type(TensorTypes inputs) const {
  const auto parts = parts_of(inputs, [](const TensorType& type) { return type; });
  for (const TensorType* part : {parts.query, parts.value, parts.key}) {
    if (part->rank() == 2 && is_floating(part->dtype)) continue;
    fail(fmt::format("expects floating-point [time, channels] per example, got {}", to_string(*part)));
  }
  if (parts.key->shape[0] != parts.value->shape[0]) {
    fail(fmt::format("needs as many keys as values, got {} and {}", to_string(*parts.key), to_string(*parts.value)));
  }
  if (parts.mask != nullptr) check_mask(*parts.mask, *parts.query, *parts.value);
  if (query_.kernel) {
    const auto check_width = [&](std::string_view what, const TensorType& given, const Projection& built) {
      if (given.shape[1] == built.kernel->type.shape[0]) return;
      fail(fmt::format("was built for a {} of {} channels, got {}", what, built.kernel->type.shape[0],
                       to_string(given)));
    };
    check_width("query", *parts.query, query_);
    check_width("key", *parts.key, key_);
    check_width("value", *parts.value, value_);
  }
  TensorType output{{parts.query->shape[0]}, policy().compute};
  const Shape position = output_shape(parts.query->shape[1]);
  output.shape.insert(output.shape.end(), position.begin(), position.end());
  return output;
}

void HeadAttention::check_mask(const TensorType& mask, const TensorType& query, const TensorType& value) const {
  const Shape all{heads_.of_queries, query.shape[0], value.shape[0]};
  const std::size_t rank = mask.shape.size();
  bool fits = rank >= 1 && rank <= 3 && mask.dtype != Dtype::bytes;
  for (std::size_t axis = 0; fits && axis < rank; ++axis) {
    fits = mask.shape[axis] == 1 || mask.shape[axis] == all[axis + 3 - rank];
  }
  if (fits) return;
  fail(
      fmt::format("the mask must be [keys], [queries, keys] or [heads, queries, keys] per example with {} heads, {} "
                  "queries and {} keys, got {}",
                  all[0], all[1], all[2], to_string(mask)));
}

HeadAttention::Projection HeadAttention::make_projection(VariableFactory& factory, const std::string& name,
                                                         Shape kernel, Shape bias) {
  Projection made;
  made.kernel = make_variable(factory, name + "/kernel", std::move(kernel),
                              parse_initializer(config().text("kernel_initializer")));
  if (!config().flag("use_bias")) return made;
  made.bias =
      make_variable(factory, name + "/bias", std::move(bias), parse_initializer(config().text("bias_initializer")));
  return made;
}

void HeadAttention::make_variables(VariableFactory& factory, TensorTypes inputs) {
  const auto parts = parts_of(inputs, [](const TensorType& type) { return type; });
  const auto [query_heads, key_heads, key_dim, value_dim] = heads_;
  const Shape position = output_shape(parts.query->shape[1]);
  Shape joining{query_heads, value_dim};
  joining.insert(joining.end(), position.begin(), position.end());
  query_ = make_projection(factory, "query", {parts.query->shape[1], query_heads, key_dim}, {query_heads, key_dim});
  key_ = make_projection(factory, "key", {parts.key->shape[1], key_heads, key_dim}, {key_heads, key_dim});
  value_ = make_projection(factory, "value", {parts.value->shape[1], key_heads, value_dim}, {key_heads, value_dim});
  output_ = make_projection(factory, "attention_output", joining, position);
  const std::uint64_t drawn = factory.next_seed();
  if (config().integer("seed") < 0) seed_ = drawn;
}

Value HeadAttention::project(const CallContext& context, Value x, const Projection& projection,
                             const Shape& out) const {
  Graph& graph = context.graph;
  const Shape given = graph.type(x).shape;
  const std::int64_t width = element_count(out), terms = projection.kernel->type.elements() / width;
  const Value rows = ops::reshape(graph, x, {-1, terms});
  Value y = ops::matmul(graph, rows, ops::reshape(graph, weight(context, projection.kernel), {terms, width}));
  if (projection.bias) {
    y = ops::bias_add(graph, y, ops::reshape(graph, weight(context, projection.bias), {width}));
  }
  Shape shape{given[0], given[1]};
  shape.insert(shape.end(), out.begin(), out.end());
  return ops::reshape(graph, y, shape);
}

/// As [batch, heads, queries, keys], with 1 where it is the same for all.
Value HeadAttention::broadcast_mask(Graph& graph, Value mask) const {
  Shape shape = graph.type(mask).shape;
  while (shape.size() < 4) shape.insert(shape.begin() + 1, 1);
  return ops::reshape(graph, ops::cast(graph, mask, Dtype::boolean), shape);
}

/// bool [1, 1, queries, keys]: true up to the query's own position.
Value causal_mask(Graph& graph, std::int64_t queries, std::int64_t keys) {
  HostTensor mask(TensorType{{1, 1, queries, keys}, Dtype::boolean});
  for (std::int64_t i = 0; i < queries * keys; ++i) {
    mask.values<bool>()[static_cast<std::size_t>(i)] = i % keys <= i / keys;
  }
  return graph.constant(mask);
}

Value HeadAttention::mask_of_inputs(Graph& graph, const Parts<Value>& parts, const LayerArguments& given) const {
  const std::size_t inputs = given.inputs.size() - (parts.mask != nullptr ? 1 : 0);
  Value all;
  const auto add = [&](Value mask) { all = all ? ops::logical_and(graph, all, mask) : mask; };
  const auto along = [&](std::size_t input, std::size_t axis) {
    const Value mask = given.mask(input < inputs ? input : 0);
    if (!mask) return;
    expect_mask(*this, graph, mask, given.inputs[input < inputs ? input : 0], 2);
    Shape shape{graph.type(mask).shape[0], 1, 1, 1};
    shape[axis] = graph.type(mask).shape[1];
    add(ops::reshape(graph, mask, shape));
  };
  along(0, 2);
  along(1, 3);
  if (inputs > 2) along(2, 3);
  if (!all) return {};
  if (parts.mask != nullptr) add(broadcast_mask(graph, *parts.mask));
  if (config().flag("use_causal_mask")) {
    add(causal_mask(graph, graph.type(*parts.query).shape[1], graph.type(*parts.key).shape[1]));
  }
  return all;
}

/// As in Keras, a query that may attend to no key attends to all alike, whatever it is: its products are 0, and all
/// have the same number added.
void mask_products(Graph& graph, ops::AttentionInputs& given, Value mask) {
  const Value any = ops::transpose(graph, any_of_last(graph, mask), {0, 2, 1});  // [batch, queries, heads]
  const Value zero = ops::scalar(graph, 0, graph.type(given.query).dtype);
  given.query = ops::select(graph, mask_beside(graph, any, given.query), given.query, zero);
  constexpr double excluded = -1e9;
  given.mask = ops::select(graph, mask, ops::scalar(graph, 0, Dtype::f32), ops::scalar(graph, excluded, Dtype::f32));
}

LayerOutputs HeadAttention::apply_all(const CallContext& context, const LayerArguments& arguments) const {
  Graph& graph = context.graph;
  const auto parts = parts_of(arguments.inputs, [&](Value value) { return graph.type(value); });
  ops::AttentionInputs given{.query = project(context, *parts.query, query_, {heads_.of_queries, heads_.key_dim}),
                             .key = project(context, *parts.key, key_, {heads_.of_keys, heads_.key_dim}),
                             .value = project(context, *parts.value, value_, {heads_.of_keys, heads_.value_dim})};
  const Value of_inputs = mask_of_inputs(graph, parts, arguments);
  if (of_inputs) {
    mask_products(graph, given, of_inputs);
  } else if (parts.mask != nullptr) {
    given.mask = broadcast_mask(graph, *parts.mask);
  }
  AttentionOptions options{.scale = 1 / std::sqrt(static_cast<double>(heads_.key_dim)),
                           .causal = config().flag("use_causal_mask") && !of_inputs};
  if (context.training && dropout_ > 0) {
    if (!context.step) fail("draws by the step counter in training, but this call has none");
    given.step = context.step;
    options.dropout = dropout_;
    options.first = context.first_row;
    options.seed = unused_seed(context, seed_, [](const Node& node) {
      const auto* const op = op_as<gpubench::Attention>(node);
      return op != nullptr ? &op->options.seed : nullptr;
    });
  }
  return {{project(context, ops::attention(graph, given, options), output_,
                   output_shape(graph.type(*parts.query).shape[2]))},
          {}};
}

class MultiHeadAttention final : public HeadAttention {
 public:
  static std::vector<ConfigField> fields() {
    return HeadAttention::fields({{"num_heads", std::int64_t{0}, true},
                                  {"key_dim", std::int64_t{0}, true},
                                  {"value_dim", std::int64_t{0}},
                                  {"dropout", 0.0},
                                  {"output_shape", Shape{}}});
  }
  MultiHeadAttention(Config given, DeviceId device)
      : HeadAttention(std::move(given), std::move(device), &MultiHeadAttention::heads_of) {
    for (const std::int64_t size : config().shape("output_shape")) {
      if (size >= 1) continue;
      throw Error(fmt::format("MultiHeadAttention: output_shape must be positive sizes, got {}",
                              to_string(config().shape("output_shape"))));
    }
  }
  std::string default_name() const override { return "multi_head_attention"; }

 private:
  static Heads heads_of(const Config& config) {
    const std::int64_t heads = config.integer_from("num_heads", 1), key_dim = config.integer_from("key_dim", 1);
    const std::int64_t value_dim = config.integer_from("value_dim", 0);
    return {heads, heads, key_dim, value_dim == 0 ? key_dim : value_dim};
  }
  Shape output_shape(std::int64_t query_width) const override {
    const Shape& given = config().shape("output_shape");
    return given.empty() ? Shape{query_width} : given;
  }
};

class GroupQueryAttention final : public HeadAttention {
 public:
  static std::vector<ConfigField> fields() {
    return HeadAttention::fields({{"head_dim", std::int64_t{0}, true},
                                  {"num_query_heads", std::int64_t{0}, true},
                                  {"num_key_value_heads", std::int64_t{0}, true},
                                  {"dropout", 0.0}});
  }
  GroupQueryAttention(Config given, DeviceId device)
      : HeadAttention(std::move(given), std::move(device), &GroupQueryAttention::heads_of) {}
  std::string default_name() const override { return "group_query_attention"; }

 private:
  static Heads heads_of(const Config& config) {
    const std::int64_t queries = config.integer_from("num_query_heads", 1);
    const std::int64_t keys = config.integer_from("num_key_value_heads", 1);
    if (queries % keys != 0) {
      throw Error(
          fmt::format("GroupQueryAttention: num_query_heads must be a multiple of num_key_value_heads, got {} and {}",
                      queries, keys));
    }
    const std::int64_t dim = config.integer_from("head_dim", 1);
    return {queries, keys, dim, dim};
  }
  Shape output_shape(std::int64_t query_width) const override { return {query_width}; }
};

}  // namespace

LayerKind multi_head_attention() {
  return {"MultiHeadAttention",
          {"num_heads", "key_dim", "value_dim", "dropout", "use_bias", "output_shape"},
          MultiHeadAttention::fields(),
          &construct_layer<MultiHeadAttention>};
}

LayerKind group_query_attention() {
  return {"GroupQueryAttention",
          {"head_dim", "num_query_heads", "num_key_value_heads", "dropout", "use_bias"},
          GroupQueryAttention::fields(),
          &construct_layer<GroupQueryAttention>};
}

}  // namespace gpubench::nn
