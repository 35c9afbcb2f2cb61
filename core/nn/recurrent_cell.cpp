#include "core/nn/recurrent_cell.h"

#include <array>
#include <cstring>
#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/nn/activation.h"
#include "core/nn/dropout.h"
#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/nn/sliding.h"
#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/reduce.h"
#include "core/ops/shape_ops.h"

namespace gpubench::nn {
namespace {

/// Columns [first, last) of the last dimension.
Value last_columns(Graph& graph, Value x, std::int64_t first, std::int64_t last) {
  const auto rank = static_cast<std::size_t>(graph.type(x).rank());
  SliceRange range{Shape(rank, 0), Shape(rank, SliceRange::to_end), {}};
  range.begin.back() = first;
  range.end.back() = last;
  return ops::slice(graph, x, std::move(range));
}

Value zero_states(Graph& graph, Shape shape, Dtype dtype) {
  return ops::broadcast_to(graph, ops::scalar(graph, 0, dtype), std::move(shape));
}

CellKind kind_of_cell(const Config& config) {
  if (config.owner().starts_with("LSTM")) return CellKind::lstm;
  return config.owner().starts_with("GRU") ? CellKind::gru : CellKind::simple;
}

}  // namespace

Value row_of(Graph& graph, Value x, std::int64_t row) {
  const Value taken = ops::slice(graph, x, {.begin = {row}, .end = {row + 1}, .stride = {}});
  const Shape& shape = graph.type(x).shape;
  return ops::reshape(graph, taken, Shape(shape.begin() + 1, shape.end()));
}

void check_states(const Layer& layer, const Shape& sizes, TensorTypes states, bool optional) {
  if (optional && states.empty()) return;
  if (states.size() != sizes.size()) {
    layer.fail(fmt::format("has {} state{}, of {} numbers, got {}: {} {{ initial_state = {{ ... }} }}", sizes.size(),
                           sizes.size() == 1 ? "" : "s", fmt::join(sizes, " and "), states.size(),
                           optional ? "give all of them by" : "a cell is called with"));
  }
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    if (states[i].shape == Shape{sizes[i]} && is_floating(states[i].dtype)) continue;
    layer.fail(
        fmt::format("state {} must be floating-point [{}] per example, got {}", i + 1, sizes[i], to_string(states[i])));
  }
}

RecurrentRun unrolled(Graph& graph, const Sequence& sequence, const Shape& state_sizes, Dtype dtype, bool backwards,
                      Wanted wanted, const RecurrentBody& body) {
  const Shape shape = graph.type(sequence.x).shape;
  const std::int64_t steps = shape[0];
  RecurrentRun run;
  run.states = sequence.states;
  if (run.states.empty()) {
    for (const std::int64_t size : state_sizes) run.states.push_back(zero_states(graph, {shape[1], size}, dtype));
  }
  std::vector<Value> outputs(static_cast<std::size_t>(steps));
  for (std::int64_t turn = 0; turn < steps; ++turn) {
    const std::int64_t step = backwards ? steps - 1 - turn : turn;
    const std::vector<Value> results = body(step, run.states);
    Value output = results[0];
    const Value mask = sequence.mask ? row_of(graph, sequence.mask, step) : Value{};
    const auto kept = [&](Value now, Value before) {
      return ops::select(graph, mask_beside(graph, mask, now), now, before);
    };
    if (mask) output = run.last ? kept(output, run.last) : kept_by(graph, mask, output);
    for (std::size_t i = 0; i < run.states.size(); ++i) {
      run.states[i] = mask ? kept(results[i + 1], run.states[i]) : results[i + 1];
    }
    run.last = output;
    Shape row = graph.type(output).shape;
    row.insert(row.begin(), 1);
    if (wanted.outputs) outputs[static_cast<std::size_t>(step)] = ops::reshape(graph, output, row);
  }
  if (wanted.outputs) run.outputs = outputs.size() == 1 ? outputs[0] : ops::concat(graph, outputs, 0);
  return run;
}

std::vector<ConfigField> Cell::fields(CellKind kind) {
  std::vector<ConfigField> all{{"units", std::int64_t{0}, true}, {"activation", std::string("tanh")}};
  if (kind != CellKind::simple) all.push_back({"recurrent_activation", std::string("sigmoid")});
  all.insert(all.end(), {{"use_bias", true},
                         {"kernel_initializer", std::string("glorot_uniform")},
                         {"recurrent_initializer", std::string("orthogonal")},
                         {"bias_initializer", std::string("zeros")}});
  if (kind != CellKind::simple) all.push_back({kind == CellKind::lstm ? "unit_forget_bias" : "reset_after", true});
  all.insert(all.end(), {{"dropout", 0.0}, {"recurrent_dropout", 0.0}, {"seed", std::int64_t{-1}}});
  return all;
}

Cell::Cell(const Layer& layer, CellKind kind)
    : layer_(layer),
      kind_(kind),
      units_(bounded_option(layer, "units")),
      dropout_(layer.config().number_within("dropout", 0, 1)),
      recurrent_dropout_(layer.config().number_within("recurrent_dropout", 0, 1)) {
  check_activation(layer.kind(), layer.config().text("activation"));
  if (kind != CellKind::simple) check_activation(layer.kind(), layer.config().text("recurrent_activation"));
  for (const char* option : {"kernel_initializer", "recurrent_initializer", "bias_initializer"}) {
    parse_initializer(layer.config().text(option));
  }
}

bool Cell::has_op() const {
  if (kind_ == CellKind::simple || (kind_ == CellKind::gru && !resets_after())) return false;
  const Config& config = layer_.config();
  return config.text("activation") == "tanh" && config.text("recurrent_activation") == "sigmoid";
}

RecurrentWeights Cell::make_weights(VariableFactory& factory, std::int64_t features, const Make& make) const {
  const Config& config = layer_.config();
  const Dtype dtype = layer_.policy().variable;
  const std::int64_t width = gates() * units_;
  const auto initial = [&](const char* option, Shape shape) {
    const Initializer initializer = parse_initializer(config.text(option));
    return initializer.make({std::move(shape), dtype}, initializer.seed.value_or(factory.next_seed()));
  };
  RecurrentWeights weights;
  if (draws()) {
    const std::uint64_t drawn = factory.next_seed();
    weights.seed = config.integer("seed") < 0 ? drawn : static_cast<std::uint64_t>(config.integer("seed"));
  }
  weights.kernel = make("kernel", initial("kernel_initializer", {features, width}));
  weights.recurrent = make("recurrent_kernel", initial("recurrent_initializer", {units_, width}));
  if (!config.flag("use_bias")) return weights;
  HostTensor bias = initial("bias_initializer", resets_after() ? Shape{2, width} : Shape{width});
  if (kind_ == CellKind::lstm && config.flag("unit_forget_bias")) {
    const HostTensor ones = parse_initializer("ones").make({{units_}, dtype}, 0);
    std::memcpy(bias.data() + ones.bytes(), ones.data(), ones.bytes());  // the second gate
  }
  weights.bias = make("bias", bias);
  return weights;
}

Cell::Biases Cell::biases(const CallContext& context, const VariablePtr& bias) const {
  Graph& graph = context.graph;
  const Dtype dtype = layer_.policy().compute;
  const auto all = [&] { return ops::cast(graph, graph.variable(bias), dtype); };
  if (!resets_after()) return {bias ? all() : Value{}, {}};
  if (!bias) return {{}, graph.constant(HostTensor::zeros({{units_}, dtype}))};
  const Value both = all(), of_state = row_of(graph, both, 1);
  // The gates add both parts, so that one sum over all steps holds for them; the candidate's part stays apart.
  const Value of_gates = ops::pad(graph, last_columns(graph, of_state, 0, 2 * units_), {}, {units_});
  return {ops::add(graph, row_of(graph, both, 0), of_gates), last_columns(graph, of_state, 2 * units_, 3 * units_)};
}

Value Cell::factors(const CallContext& context, std::int64_t batch, std::int64_t width, double rate,
                    std::uint64_t seed) const {
  if (!context.training || rate == 0) return {};
  const Value one = ops::scalar(context.graph, 1, layer_.policy().compute);
  return dropped(layer_, context, ops::broadcast_to(context.graph, one, {batch, width}), rate, seed);
}

Value Cell::input_product(const CallContext& context, Value x, const RecurrentWeights& weights) const {
  Graph& graph = context.graph;
  const Shape shape = graph.type(x).shape;
  const std::int64_t batch = shape[1], features = shape[2];
  const Value kernel = ops::cast(graph, graph.variable(weights.kernel), layer_.policy().compute);
  const auto multiply = [&](Value left, Value right) {
    return ops::matmul(graph, ops::reshape(graph, left, {shape[0] * batch, features}), right);
  };
  // As in Keras, each gate drops its own inputs if each drops its own states.
  const std::int64_t parts = recurrent_dropout_ > 0 ? gates() : 1;
  const Value kept = factors(context, batch, parts * features, dropout_, weights.seed);
  if (!kept) return multiply(x, kernel);
  if (parts == 1) return multiply(ops::mul(graph, x, kept), kernel);
  std::vector<Value> products;
  for (std::int64_t gate = 0; gate < parts; ++gate) {
    const Value own = last_columns(graph, kept, gate * features, (gate + 1) * features);
    products.push_back(
        multiply(ops::mul(graph, x, own), last_columns(graph, kernel, gate * units_, (gate + 1) * units_)));
  }
  return ops::concat(graph, products, -1);
}

Value Cell::input_sums(const CallContext& context, Value x, const RecurrentWeights& weights, Value bias) const {
  Graph& graph = context.graph;
  const Shape shape = graph.type(x).shape;
  Value product = input_product(context, x, weights);
  if (bias) product = ops::bias_add(graph, product, bias);
  return ops::reshape(graph, product, {shape[0], shape[1], gates() * units_});
}

RecurrentRun Cell::run(const CallContext& context, const Sequence& sequence, const RecurrentWeights& weights,
                       bool backwards, Wanted wanted) const {
  Graph& graph = context.graph;
  const Biases bias = biases(context, weights.bias);
  const Value sums = input_sums(context, sequence.x, weights, bias.input);
  const std::int64_t batch = graph.type(sequence.x).shape[1];
  const Dtype dtype = layer_.policy().compute;
  const Prepared prepared{ops::cast(graph, graph.variable(weights.recurrent), dtype), bias.inner,
                          factors(context, batch, gates() * units_, recurrent_dropout_, weights.seed)};
  if (has_op()) return run_op(context, sequence, sums, prepared, backwards, wanted);
  return unrolled(graph, sequence, state_sizes(), dtype, backwards, wanted,
                  [&](std::int64_t at, const std::vector<Value>& states) {
                    return step(graph, row_of(graph, sums, at), prepared, states);
                  });
}

RecurrentRun Cell::run_op(const CallContext& context, const Sequence& sequence, Value sums, const Prepared& prepared,
                          bool backwards, Wanted wanted) const {
  Graph& graph = context.graph;
  ops::RecurrentInputs inputs{.x = sums,
                              .kernel = prepared.recurrent,
                              .bias = prepared.inner,
                              .factors = prepared.factors,
                              .mask = sequence.mask};
  if (!sequence.states.empty()) inputs.state = sequence.states[0];
  if (sequence.states.size() > 1) inputs.memory = sequence.states[1];
  if (inputs.factors) {
    const Value by_gates = ops::reshape(graph, inputs.kernel, {units_, gates(), units_});
    inputs.kernel = ops::transpose(graph, by_gates, {1, 0, 2});
  }
  const RecurrentCell cell = kind_ == CellKind::lstm ? RecurrentCell::lstm : RecurrentCell::gru;
  const Value states = ops::recurrence(graph, inputs, {.cell = cell, .backwards = backwards});
  const std::int64_t last = backwards ? 0 : graph.type(states).shape[0] - 1;
  RecurrentRun run{.outputs = states};
  if (sequence.mask && !sequence.states.empty()) {
    // As in Keras, the output is 0 until the first step that is not masked, whatever the initial state is.
    const Value counted = ops::cast(graph, sequence.mask, Dtype::f32);
    const Value seen = graph.apply(std::make_shared<const Cumsum>(0, backwards), {counted});
    run.outputs = kept_by(graph, ops::greater(graph, seen, ops::scalar(graph, 0, Dtype::f32)), states);
  }
  if (!wanted.outputs) run.last = row_of(graph, run.outputs, last);
  if (!wanted.states) return run;
  run.states.push_back(row_of(graph, states, last));
  if (kind_ == CellKind::lstm) run.states.push_back(row_of(graph, {states.node, 1}, last));
  return run;
}

Value Cell::product(Graph& graph, const Prepared& prepared, Value state, std::int64_t first, std::int64_t last) const {
  const auto kernel = [&](std::int64_t from, std::int64_t to) {
    const bool all = from == 0 && to == gates();
    return all ? prepared.recurrent : last_columns(graph, prepared.recurrent, from * units_, to * units_);
  };
  if (!prepared.factors) return ops::matmul(graph, state, kernel(first, last));
  std::vector<Value> parts;
  for (std::int64_t gate = first; gate < last; ++gate) {
    const Value own = last_columns(graph, prepared.factors, gate * units_, (gate + 1) * units_);
    parts.push_back(ops::matmul(graph, ops::mul(graph, state, own), kernel(gate, gate + 1)));
  }
  return parts.size() == 1 ? parts[0] : ops::concat(graph, parts, -1);
}

Value Cell::activated(Graph& graph, const char* option, Value x) const {
  const Dtype dtype = graph.type(x).dtype;
  return ops::cast(graph, apply_activation(graph, layer_.config().text(option), x, layer_.policy()), dtype);
}

std::vector<Value> Cell::step(Graph& graph, Value sums, const Prepared& prepared,
                              const std::vector<Value>& states) const {
  if (kind_ == CellKind::gru) return gru_step(graph, sums, prepared, states[0]);
  const Value all = ops::add(graph, sums, product(graph, prepared, states[0], 0, gates()));
  if (kind_ == CellKind::simple) {
    const Value state = activated(graph, "activation", all);
    return {state, state};
  }
  const auto gate = [&](const char* option, std::int64_t index) {
    return activated(graph, option, last_columns(graph, all, index * units_, (index + 1) * units_));
  };
  const Value in = gate("recurrent_activation", 0), forget = gate("recurrent_activation", 1);
  const Value candidate = gate("activation", 2), out = gate("recurrent_activation", 3);
  const Value memory = ops::add(graph, ops::mul(graph, forget, states[1]), ops::mul(graph, in, candidate));
  const Value state = ops::mul(graph, out, activated(graph, "activation", memory));
  return {state, state, memory};
}

std::vector<Value> Cell::gru_step(Graph& graph, Value sums, const Prepared& prepared, Value state) const {
  const auto part = [&](Value of, std::int64_t index) {
    return last_columns(graph, of, index * units_, (index + 1) * units_);
  };
  const bool after = resets_after();
  const Value products = product(graph, prepared, state, 0, after ? 3 : 2);
  const auto gate = [&](std::int64_t index) {
    return activated(graph, "recurrent_activation", ops::add(graph, part(sums, index), part(products, index)));
  };
  const Value update = gate(0), reset = gate(1);
  Value inner;
  if (after) {
    inner = ops::mul(graph, reset, ops::add(graph, part(products, 2), prepared.inner));
  } else {
    inner = product(graph, prepared, ops::mul(graph, reset, state), 2, 3);
  }
  const Value candidate = activated(graph, "activation", ops::add(graph, part(sums, 2), inner));
  const Value one = ops::scalar(graph, 1, graph.type(update).dtype);
  const Value mixed =
      ops::add(graph, ops::mul(graph, update, state), ops::mul(graph, ops::sub(graph, one, update), candidate));
  return {mixed, mixed};
}

CellLayer::CellLayer(Config given, DeviceId device)
    : Layer(std::move(given), std::move(device)), cell_(*this, kind_of_cell(config())) {}

std::string CellLayer::default_name() const {
  constexpr std::array names{"simple_rnn_cell", "lstm_cell", "gru_cell"};
  return names[static_cast<std::size_t>(cell_.kind())];
}

std::vector<TensorType> CellLayer::output_types(TensorTypes inputs, TensorTypes states) const {
  const TensorType& input = only_input(inputs, 1, "[features]");
  if (weights_.kernel && weights_.kernel->type.shape[0] != input.shape[0]) {
    fail(fmt::format("was built for {} features, got {}", weights_.kernel->type.shape[0], to_string(input)));
  }
  check_states(*this, state_sizes(), states, false);
  return std::vector<TensorType>(state_sizes().size() + 1, {{cell_.units()}, input.dtype});
}

void CellLayer::make_variables(VariableFactory& factory, TensorTypes inputs) {
  weights_ = cell_.make_weights(factory, inputs[0].shape[0], [&](const std::string& name, const HostTensor& initial) {
    return make_variable(factory, name, initial, true);
  });
}

LayerOutputs CellLayer::apply_all(const CallContext& context, const LayerArguments& given) const {
  Graph& graph = context.graph;
  Shape shape = graph.type(given.inputs[0]).shape;
  shape.insert(shape.begin(), 1);
  const Sequence sequence{.x = ops::reshape(graph, given.inputs[0], shape),
                          .states = {given.states.begin(), given.states.end()}};
  const RecurrentRun run = cell_.run(context, sequence, weights_, false, {.states = true});
  LayerOutputs outputs{{run.last}, {}};
  outputs.values.insert(outputs.values.end(), run.states.begin(), run.states.end());
  return outputs;
}

LayerKind gru_cell() {
  return {"GRUCell", {"units"}, Cell::fields(CellKind::gru), &construct_layer<CellLayer>};
}
LayerKind lstm_cell() {
  return {"LSTMCell", {"units"}, Cell::fields(CellKind::lstm), &construct_layer<CellLayer>};
}
LayerKind simple_rnn_cell() {
  return {"SimpleRNNCell", {"units"}, Cell::fields(CellKind::simple), &construct_layer<CellLayer>};
}

}  // namespace gpubench::nn
