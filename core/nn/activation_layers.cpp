// Activation functions with parameters as layers. Functions without parameters are Activation's.
#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/nn/activation.h"
#include "core/nn/axis.h"
#include "core/nn/layer_kind.h"
#include "core/ops/broadcast.h"
#include "core/ops/elementwise.h"

namespace gpubench::nn {
namespace {

/// The value of the option max_value that stands for none.
constexpr double no_limit = -1;

Value number(Graph& graph, double value, Value x) {
  return ops::scalar(graph, value, graph.type(x).dtype);
}

void check_relu(const Config& config) {
  const double limit = config.number("max_value");
  if (limit < 0 && limit != no_limit) {
    throw Error(fmt::format("ReLU: max_value must be at least 0, got {}", limit));
  }
  for (const char* name : {"negative_slope", "threshold"}) {
    if (!(config.number(name) >= 0)) {
      throw Error(fmt::format("ReLU: {} must be at least 0, got {}", name, config.number(name)));
    }
  }
}

/// max_value where x is at least that, x where it is above the threshold, else negative_slope * (x - threshold).
Value apply_relu(const Config& config, Graph& graph, Value x) {
  const double limit = config.number("max_value"), slope = config.number("negative_slope");
  const double threshold = config.number("threshold");
  if (slope == 0 && threshold == 0 && limit == 6) return ops::relu6(graph, x);
  Value y;
  if (threshold != 0) {
    const Value start = number(graph, threshold, x);
    const Value below = ops::mul(graph, ops::sub(graph, x, start), number(graph, slope, x));
    y = ops::select(graph, ops::greater(graph, x, start), x, below);
  } else {
    y = slope == 0 ? ops::relu(graph, x) : ops::leaky_relu(graph, x, number(graph, slope, x));
  }
  return limit == no_limit ? y : ops::minimum(graph, y, number(graph, limit, x));
}

void check_leaky_relu(const Config& config) {
  const double slope = config.number("negative_slope");
  if (!(slope >= 0)) throw Error(fmt::format("LeakyReLU: negative_slope must be at least 0, got {}", slope));
}

Value apply_leaky_relu(const Config& config, Graph& graph, Value x) {
  return ops::leaky_relu(graph, x, number(graph, config.number("negative_slope"), x));
}

Value apply_elu(const Config& config, Graph& graph, Value x) {
  return ops::elu(graph, x, number(graph, config.number("alpha"), x));
}

struct Function {
  const char* kind;
  const char* default_name;
  const char* first_option;
  Value (*apply)(const Config&, Graph&, Value);
  void (*check)(const Config&) = nullptr;
};

constexpr std::array functions = {
    Function{"ELU", "elu", "alpha", &apply_elu},
    Function{"LeakyReLU", "leaky_re_lu", "negative_slope", &apply_leaky_relu, &check_leaky_relu},
    Function{"ReLU", "re_lu", "max_value", &apply_relu, &check_relu},
};

const Function& function_of(std::string_view kind) {
  return *std::ranges::find(functions, kind, [](const Function& row) { return std::string_view(row.kind); });
}

class FunctionLayer final : public Layer {
 public:
  FunctionLayer(Config given, DeviceId device)
      : Layer(std::move(given), std::move(device)), function_(function_of(kind())) {
    if (function_.check != nullptr) function_.check(config());
  }
  std::string default_name() const override { return function_.default_name; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  TensorType output_type(TensorTypes inputs) const override { return only_input(inputs, -1, ""); }

 private:
  Value apply(const CallContext& context, Values inputs) const override {
    return function_.apply(config(), context.graph, inputs[0]);
  }

  const Function& function_;
};

/// x above 0, alpha x below, with a trained alpha for each number of an example, or for all along shared axes.
class PReLU final : public Layer {
 public:
  PReLU(Config given, DeviceId device) : Layer(std::move(given), std::move(device)) {
    parse_initializer(config().text("alpha_initializer"));
  }
  std::string default_name() const override { return "p_re_lu"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  TensorType output_type(TensorTypes inputs) const override {
    const TensorType& input = only_input(inputs, -1, "");
    if (alpha_ && alpha_->type.shape != alpha_shape(input)) {
      fail(fmt::format("has alphas {}, and {} needs {}", to_string(alpha_->type.shape), to_string(input),
                       to_string(alpha_shape(input))));
    }
    return input;
  }

 private:
  Shape alpha_shape(const TensorType& input) const {
    Shape shape = input.shape;
    for (const std::int64_t axis : config().shape("shared_axes")) shape[example_axis(*this, axis, input)] = 1;
    return shape;
  }
  void make_variables(VariableFactory& factory, TensorTypes inputs) override {
    alpha_ =
        make_variable(factory, "alpha", alpha_shape(inputs[0]), parse_initializer(config().text("alpha_initializer")));
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const Value below = ops::relu(graph, ops::neg(graph, inputs[0])), above = ops::relu(graph, inputs[0]);
    return ops::sub(graph, above, ops::mul(graph, weight(context, alpha_), below));
  }

  VariablePtr alpha_;
};

/// Along `axis`, counted with the batch as 0 or from the end.
class Softmax final : public Layer {
 public:
  using Layer::Layer;
  std::string default_name() const override { return "softmax"; }
  MaskRule mask_rule() const override { return MaskRule::passes; }
  bool reads_masks() const override { return true; }
  TensorType output_type(TensorTypes inputs) const override {
    TensorType output = only_input(inputs, -1, "");
    example_axis(*this, config().integer("axis"), output);
    output.dtype = activated_dtype("softmax", policy());
    return output;
  }

 private:
  /// As in Keras, the mask is aligned at the last dimension: it says which numbers take part.
  LayerOutputs apply_all(const CallContext& context, const LayerArguments& given) const override {
    Graph& graph = context.graph;
    const Value mask = given.mask(0);
    if (!mask) return Layer::apply_all(context, given);
    const TensorType &type = graph.type(given.inputs[0]), &of_mask = graph.type(mask);
    if (!ops::broadcasts_to(of_mask.shape, type.shape)) {
      fail(fmt::format("the mask must broadcast to the input {} of the batch, got {}", to_string(type),
                       to_string(of_mask)));
    }
    constexpr double excluded = -3e4;  // within float16
    const Value x = ops::select(graph, mask, given.inputs[0], ops::scalar(graph, excluded, type.dtype));
    const Value y = apply(context, std::array{x});
    return {{ops::select(graph, mask, y, ops::scalar(graph, 0, graph.type(y).dtype))}, {}};
  }
  Value apply(const CallContext& context, Values inputs) const override {
    Graph& graph = context.graph;
    const std::int64_t axis = config().integer("axis");
    const Value last = apply_activation(graph, "softmax", swap_with_last(graph, inputs[0], axis), policy());
    return swap_with_last(graph, last, axis);
  }
};

LayerKind function_kind(const char* kind, std::vector<ConfigField> fields) {
  return {kind, {function_of(kind).first_option}, std::move(fields), &construct_layer<FunctionLayer>};
}

}  // namespace

LayerKind elu() {
  return function_kind("ELU", {{"alpha", 1.0}});
}
LayerKind leaky_relu() {
  return function_kind("LeakyReLU", {{"negative_slope", 0.3}});
}
LayerKind prelu() {
  return {"PReLU",
          {"alpha_initializer"},
          {{"alpha_initializer", std::string("zeros")}, {"shared_axes", Shape{}}},
          &construct_layer<PReLU>};
}
LayerKind relu() {
  return function_kind("ReLU", {{"max_value", no_limit}, {"negative_slope", 0.0}, {"threshold", 0.0}});
}
LayerKind softmax() {
  return {"Softmax", {"axis"}, {{"axis", std::int64_t{-1}}}, &construct_layer<Softmax>};
}

}  // namespace gpubench::nn
