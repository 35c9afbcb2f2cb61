#include "core/nn/recurrent_layer.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <memory>
#include <numeric>

#include "core/nn/layer_kind.h"
#include "core/nn/masks.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise.h"
#include "core/ops/shape_ops.h"
#include "core/ops/state.h"

namespace gpubench::nn {
namespace {

CellKind kind_of_layer(const Config& config) {
  if (config.owner() == "LSTM") return CellKind::lstm;
  return config.owner() == "GRU" ? CellKind::gru : CellKind::simple;
}

LayerKind recurrent_kind(const char* name, CellKind kind) {
  return {name, {"units"}, RecurrentBase::fields(Cell::fields(kind)), &construct_layer<RecurrentLayer>};
}

}  // namespace

Value swap_batch_and_steps(Graph& graph, Value x) {
  std::vector<std::int64_t> order(graph.type(x).shape.size());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[0], order[1]);
  return ops::transpose(graph, x, order);
}

Value mask_of_steps(const LayerArguments& given) {
  return given.inputs.size() > 1 ? given.inputs[1] : given.mask(0);
}

Sequence sequence_of(Graph& graph, const LayerArguments& given) {
  Sequence sequence{.x = swap_batch_and_steps(graph, given.inputs[0]),
                    .states = {given.states.begin(), given.states.end()}};
  if (const Value mask = mask_of_steps(given)) {
    sequence.mask = ops::transpose(graph, ops::cast(graph, mask, Dtype::boolean), {1, 0});
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

std::vector<ConfigField> RecurrentBase::fields(std::vector<ConfigField> own) {
  own.insert(own.end(), {{"return_sequences", false},
                         {"return_state", false},
                         {"go_backwards", false},
                         {"stateful", false},
                         {"unroll", false},
                         {"zero_output_for_mask", false}});
  return own;
}

std::vector<TensorType> RecurrentBase::output_types(TensorTypes inputs, TensorTypes states) const {
  if (inputs.empty()) fail("takes one input, got 0");
  const TensorType& input = inputs[0];
  if (!is_floating(input.dtype)) fail(fmt::format("expects floating-point input, got {}", to_string(input)));
  check_step(inputs);
  check_mask(*this, inputs);
  if (input.shape[0] < 1) fail(fmt::format("needs at least one step, got {}", to_string(input)));
  check_states(*this, sizes(), states, true);
  TensorType output{{output_size({Shape(input.shape.begin() + 1, input.shape.end()), input.dtype})}, input.dtype};
  if (returns_sequences()) output.shape.insert(output.shape.begin(), input.shape[0]);
  std::vector<TensorType> outputs{output};
  if (!returns_state()) return outputs;
  for (const std::int64_t size : sizes()) outputs.push_back({{size}, input.dtype});
  return outputs;
}

void RecurrentBase::make_variables(VariableFactory& factory, TensorTypes inputs) {
  make_weights(factory, inputs);
  if (!config().flag("stateful")) return;
  if (batch_rows() == 0) {
    fail(
        "stateful, it keeps a state for each row of the batch, whose size must be known: "
        "gb.Input { shape = , batch_size = }");
  }
  for (const std::int64_t size : sizes()) {
    const HostTensor zeros = HostTensor::zeros({{batch_rows(), size}, policy().variable});
    kept_.push_back(factory.create(name() + "/rnn_state", zeros, device(), false, owner()));
  }
}

std::vector<Value> RecurrentBase::states_before(const CallContext& context, std::int64_t rows) const {
  if (kept_.empty()) return {};
  Graph& graph = context.graph;
  if (context.replica) fail("stateful, it keeps the states of one batch; replicas divide it");
  const std::int64_t kept_rows = kept_[0]->type.shape[0];
  if (rows != kept_rows) fail(fmt::format("stateful, it keeps the states of a batch of {}, got {}", kept_rows, rows));
  std::vector<Value> states;
  for (const VariablePtr& kept : kept_) {
    // A copy, because a gradient computed later must use this call's state.
    const Value copy = ops::add(graph, graph.variable(kept), ops::scalar(graph, 0, kept->type.dtype));
    states.push_back(ops::cast(graph, copy, policy().compute));
  }
  return states;
}

LayerOutputs RecurrentBase::apply_all(const CallContext& context, const LayerArguments& given) const {
  Graph& graph = context.graph;
  if (const Value mask = mask_of_steps(given)) expect_mask(*this, graph, mask, given.inputs[0], 2);
  Sequence sequence = sequence_of(graph, given);
  if (sequence.states.empty()) sequence.states = states_before(context, graph.type(sequence.x).shape[1]);
  const bool backwards = goes_backwards();
  RecurrentRun result = run(context, sequence, {returns_sequences(), returns_state() || !kept_.empty()});
  for (std::size_t i = 0; i < kept_.size(); ++i) {
    ops::assign(graph, graph.variable(kept_[i]), ops::cast(graph, result.states[i], kept_[i]->type.dtype));
  }
  if (sequence.mask && config().flag("zero_output_for_mask")) {
    const std::int64_t last = backwards ? 0 : graph.type(sequence.x).shape[0] - 1;
    if (returns_sequences()) result.outputs = kept_by(graph, sequence.mask, result.outputs);
    if (!returns_sequences()) result.last = kept_by(graph, row_of(graph, sequence.mask, last), result.last);
  }
  LayerOutputs outputs;
  if (returns_sequences()) {
    // As in Keras, a sequence computed backwards is returned in the order of computation.
    const Value all = swap_batch_and_steps(graph, result.outputs);
    outputs.values.push_back(
        backwards ? graph.apply(std::make_shared<const Reverse>(std::vector<std::int64_t>{1}), {all}) : all);
  } else {
    outputs.values.push_back(result.last);
  }
  if (returns_state()) outputs.values.insert(outputs.values.end(), result.states.begin(), result.states.end());
  return outputs;
}

std::vector<Value> RecurrentBase::output_masks(const CallContext& context, const LayerArguments& given) const {
  const Value mask = mask_of_steps(given);
  if (!returns_sequences() || !mask) return {};
  return {ops::cast(context.graph, mask, Dtype::boolean)};
}

RecurrentLayer::RecurrentLayer(Config given, DeviceId device)
    : RecurrentBase(std::move(given), std::move(device)), cell_(*this, kind_of_layer(config())) {}

std::string RecurrentLayer::default_name() const {
  constexpr std::array names{"simple_rnn", "lstm", "gru"};
  return names[static_cast<std::size_t>(cell_.kind())];
}

void RecurrentLayer::check_step(TensorTypes inputs) const {
  const TensorType& input = only_input(inputs.first(1), 2, "[steps, features]");
  if (weights_.kernel && weights_.kernel->type.shape[0] != input.shape[1]) {
    fail(fmt::format("was built for {} features, got {}", weights_.kernel->type.shape[0], to_string(input)));
  }
}

void RecurrentLayer::make_weights(VariableFactory& factory, TensorTypes inputs) {
  weights_ = cell_.make_weights(factory, inputs[0].shape[1], [&](const std::string& name, const HostTensor& initial) {
    return make_variable(factory, name, initial, true);
  });
}

LayerKind gru() {
  return recurrent_kind("GRU", CellKind::gru);
}
LayerKind lstm() {
  return recurrent_kind("LSTM", CellKind::lstm);
}
LayerKind simple_rnn() {
  return recurrent_kind("SimpleRNN", CellKind::simple);
}

}  // namespace gpubench::nn
