#include "core/nn/recurrent_layer.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/sliding.h"
#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

RecurrentCell cell_of(const Config& config) {
  return config.owner() == "LSTM" ? RecurrentCell::lstm : RecurrentCell::gru;
}

/// Rows [first, last) of the last dimension.
Value part_of(Graph& graph, Value x, std::int64_t first, std::int64_t last) {
  const auto rank = static_cast<std::size_t>(graph.type(x).rank());
  SliceRange range{Shape(rank, 0), Shape(rank, SliceRange::to_end), {}};
  range.begin.back() = first;
  range.end.back() = last;
  return ops::slice(graph, x, std::move(range));
}

Value row_of(Graph& graph, Value x, std::int64_t row) {
  const Value taken = ops::slice(graph, x, {.begin = {row}, .end = {row + 1}, .stride = {}});
  const Shape& shape = graph.type(x).shape;
  return ops::reshape(graph, taken, Shape(shape.begin() + 1, shape.end()));
}

}  // namespace

Value swap_batch_and_steps(Graph& graph, Value x) {
  return ops::transpose(graph, x, {1, 0, 2});
}

Sequence sequence_of(Graph& graph, Values inputs) {
  Sequence sequence{.x = swap_batch_and_steps(graph, inputs[0])};
  if (inputs.size() > 1) {
    sequence.mask = ops::transpose(graph, ops::cast(graph, inputs[1], Dtype::boolean), {1, 0});
  }
  return sequence;
}

void check_mask(const Layer& layer, TensorTypes inputs) {
  if (inputs.size() < 2) return;
  if (inputs.size() > 2) layer.fail(fmt::format("takes a sequence and a mask, got {} inputs", inputs.size()));
  const TensorType& mask = inputs[1];
  const Shape steps{inputs[0].shape[0]};
  if (mask.shape == steps && !is_floating(mask.dtype) && mask.dtype != Dtype::bytes) return;
  layer.fail(fmt::format("the mask must be integers or bools {} per example, one for each step of {}, got {}",
                         to_string(steps), to_string(inputs[0]), to_string(mask)));
}

Value last_state(Graph& graph, Value states, bool backwards) {
  return row_of(graph, states, backwards ? 0 : graph.type(states).shape[0] - 1);
}

std::vector<ConfigField> RecurrentLayer::fields(RecurrentCell cell) {
  return {{"units", std::int64_t{0}, true},
          {"activation", std::string("tanh")},
          {"recurrent_activation", std::string("sigmoid")},
          {"use_bias", true},
          {"kernel_initializer", std::string("glorot_uniform")},
          {"recurrent_initializer", std::string("orthogonal")},
          {"bias_initializer", std::string("zeros")},
          {cell == RecurrentCell::lstm ? "unit_forget_bias" : "reset_after", true},
          {"dropout", 0.0},
          {"recurrent_dropout", 0.0},
          {"seed", std::int64_t{-1}},
          {"return_sequences", false},
          {"go_backwards", false}};
}

RecurrentLayer::RecurrentLayer(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)),
      cell_(cell_of(config())),
      units_(bounded_option(*this, "units")),
      dropout_(config().number_within("dropout", 0, 1)),
      recurrent_dropout_(config().number_within("recurrent_dropout", 0, 1)) {
  const auto require = [&](const char* option, const char* only) {
    if (config().text(option) == only) return;
    throw Error(fmt::format("{}: {} must be '{}', got '{}'; the recurrence computes no other", kind(), option, only,
                            config().text(option)));
  };
  require("activation", "tanh");
  require("recurrent_activation", "sigmoid");
  if (cell_ == RecurrentCell::gru && !config().flag("reset_after")) {
    throw Error(
        "GRU: reset_after must be true, got false; the reset gate is applied after the product with the state, as in "
        "cuDNN");
  }
  for (const char* option : {"kernel_initializer", "recurrent_initializer", "bias_initializer"}) {
    parse_initializer(config().text(option));
  }
}

TensorType RecurrentLayer::output_type(TensorTypes inputs) const {
  const TensorType& input = only_input(inputs.first(std::min<std::size_t>(inputs.size(), 1)), 2, "[steps, features]");
  check_mask(*this, inputs);
  if (input.shape[0] < 1) fail(fmt::format("needs at least one step, got {}", to_string(input)));
  if (weights_.kernel && weights_.kernel->type.shape[0] != input.shape[1]) {
    fail(fmt::format("was built for {} features, got {}", weights_.kernel->type.shape[0], to_string(input)));
  }
  if (returns_sequences()) return {{input.shape[0], units_}, input.dtype};
  return {{units_}, input.dtype};
}

RecurrentWeights RecurrentLayer::make_weights(VariableFactory& factory, std::int64_t features, const Make& make) const {
  const std::int64_t width = gates_of(cell_) * units_;
  const auto initial = [&](const char* option, Shape shape) {
    const Initializer initializer = parse_initializer(config().text(option));
    return initializer.make({std::move(shape), policy().variable}, initializer.seed.value_or(factory.next_seed()));
  };
  RecurrentWeights weights;
  if (draws()) {
    const std::uint64_t drawn = factory.next_seed();
    weights.seed = config().integer("seed") < 0 ? drawn : static_cast<std::uint64_t>(config().integer("seed"));
  }
  weights.kernel = make("kernel", initial("kernel_initializer", {features, width}));
  weights.recurrent = make("recurrent_kernel", initial("recurrent_initializer", {units_, width}));
  if (!config().flag("use_bias")) return weights;
  HostTensor bias = initial("bias_initializer", cell_ == RecurrentCell::gru ? Shape{2, width} : Shape{width});
  if (cell_ == RecurrentCell::lstm && config().flag("unit_forget_bias")) {
    const HostTensor ones = parse_initializer("ones").make({{units_}, policy().variable}, 0);
    std::memcpy(bias.data() + ones.bytes(), ones.data(), ones.bytes());  // the second gate
  }
  weights.bias = make("bias", bias);
  return weights;
}

void RecurrentLayer::make_variables(VariableFactory& factory, TensorTypes inputs) {
  weights_ = make_weights(factory, inputs[0].shape[1], [&](const std::string& name, const HostTensor& initial) {
    return make_variable(factory, name, initial, true);
  });
}

RecurrentLayer::Biases RecurrentLayer::biases(const CallContext& context, const VariablePtr& bias) const {
  Graph& graph = context.graph;
  if (cell_ != RecurrentCell::gru) return {bias ? weight(context, bias) : Value{}, {}};
  if (!bias) return {{}, graph.constant(HostTensor::zeros({{units_}, policy().compute}))};
  const Value both = weight(context, bias), of_state = row_of(graph, both, 1);
  // The gates add both parts, so that one sum over all steps holds for them; the candidate's part stays apart.
  const Value of_gates = ops::pad(graph, part_of(graph, of_state, 0, 2 * units_), {}, {units_});
  return {ops::add(graph, row_of(graph, both, 0), of_gates), part_of(graph, of_state, 2 * units_, 3 * units_)};
}

Value RecurrentLayer::factors(const CallContext& context, std::int64_t batch, std::int64_t width, double rate,
                              std::uint64_t seed) const {
  if (!context.training || rate == 0) return {};
  const Value one = ops::scalar(context.graph, 1, policy().compute);
  return dropped(*this, context, ops::broadcast_to(context.graph, one, {batch, width}), rate, seed);
}

Value RecurrentLayer::input_product(const CallContext& context, Value x, const RecurrentWeights& weights) const {
  Graph& graph = context.graph;
  const Shape shape = graph.type(x).shape;
  const std::int64_t batch = shape[1], features = shape[2];
  const Value kernel = weight(context, weights.kernel);
  const auto multiply = [&](Value left, Value right) {
    return ops::matmul(graph, ops::reshape(graph, left, {shape[0] * batch, features}), right);
  };
  // As in Keras, each gate drops its own inputs if each drops its own states.
  const std::int64_t parts = recurrent_dropout_ > 0 ? gates_of(cell_) : 1;
  const Value kept = factors(context, batch, parts * features, dropout_, weights.seed);
  if (!kept) return multiply(x, kernel);
  if (parts == 1) return multiply(ops::mul(graph, x, kept), kernel);
  std::vector<Value> gates;
  for (std::int64_t gate = 0; gate < parts; ++gate) {
    const Value own = part_of(graph, kept, gate * features, (gate + 1) * features);
    gates.push_back(multiply(ops::mul(graph, x, own), part_of(graph, kernel, gate * units_, (gate + 1) * units_)));
  }
  return ops::concat(graph, gates, -1);
}

Value RecurrentLayer::run(const CallContext& context, const Sequence& sequence, const RecurrentWeights& weights,
                          bool backwards) const {
  Graph& graph = context.graph;
  const Shape shape = graph.type(sequence.x).shape;
  const std::int64_t gates = gates_of(cell_);
  const Biases bias = biases(context, weights.bias);
  Value product = input_product(context, sequence.x, weights);
  if (bias.input) product = ops::bias_add(graph, product, bias.input);
  ops::RecurrentInputs inputs{.x = ops::reshape(graph, product, {shape[0], shape[1], gates * units_}),
                              .kernel = weight(context, weights.recurrent),
                              .bias = bias.inner,
                              .factors = factors(context, shape[1], gates * units_, recurrent_dropout_, weights.seed),
                              .mask = sequence.mask};
  if (inputs.factors) {
    const Value by_gates = ops::reshape(graph, inputs.kernel, {units_, gates, units_});
    inputs.kernel = ops::transpose(graph, by_gates, {1, 0, 2});
  }
  return ops::recurrence(graph, inputs, {.cell = cell_, .backwards = backwards});
}

Value RecurrentLayer::apply(const CallContext& context, Values inputs) const {
  Graph& graph = context.graph;
  const bool backwards = goes_backwards();
  const Value states = run(context, sequence_of(graph, inputs), weights_, backwards);
  if (!returns_sequences()) return last_state(graph, states, backwards);
  // As in Keras, a sequence computed backwards is returned in the order of computation.
  const Value sequence = swap_batch_and_steps(graph, states);
  return backwards ? graph.apply(std::make_shared<const Reverse>(std::vector<std::int64_t>{1}), {sequence}) : sequence;
}

LayerKind gru() {
  return {"GRU", {"units"}, RecurrentLayer::fields(RecurrentCell::gru), &construct_layer<RecurrentLayer>};
}
LayerKind lstm() {
  return {"LSTM", {"units"}, RecurrentLayer::fields(RecurrentCell::lstm), &construct_layer<RecurrentLayer>};
}

}  // namespace gpubench::nn
