#include "core/exec/dispatcher.h"

#include <fmt/format.h>
#include <utility>

#include "core/base/error.h"
#include "core/device/device.h"
#include "core/graph/copy.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"

namespace gpubench {

Dispatcher::Dispatcher(Runtime& runtime) : eager_(runtime) {}

std::vector<Tensor> Dispatcher::apply(const OpPtr& op, std::span<const Tensor> inputs) {
  const std::string label(op->name());
  if (trace_ == nullptr) return apply_eagerly(op, inputs, device(), label);
  std::vector<Value> values;
  for (const Tensor& input : inputs) values.push_back(symbol(input));
  const GraphScope scope(trace_->graph, device(), label);
  const Value first = trace_->graph.apply(op, values);
  std::vector<Tensor> outputs;
  const auto count = static_cast<std::int32_t>(trace_->graph.node(first).outputs.size());
  for (std::int32_t o = 0; o < count; ++o) outputs.emplace_back(trace_, Value{first.node, o});
  return outputs;
}

std::vector<Tensor> Dispatcher::apply_eagerly(const OpPtr& op, std::span<const Tensor> inputs, const DeviceId& device,
                                              const std::string& label, const Eager::Part& part) {
  for (const Tensor& input : inputs) {
    if (input.symbolic()) {
      throw Error(
          fmt::format("{}: an input is a value of a traced function that has ended; return it from the "
                      "function and use what the call gives",
                      op->name()));
    }
  }
  std::vector<Tensor> outputs = eager_.apply(op, inputs, device, label, part);
  for (Tape* tape : tapes_) tape->record(op, inputs, outputs, device, label);
  return outputs;
}

std::vector<Tensor> Dispatcher::apply(const Graph& graph, std::span<const Tensor> inputs, Values outputs) {
  std::vector<Tensor> results;
  if (trace_ != nullptr) {
    std::vector<Value> given;
    for (const Tensor& input : inputs) given.push_back(symbol(input));
    for (const Value output : splice(trace_->graph, graph, given, outputs)) results.emplace_back(trace_, output);
    return results;
  }
  std::vector<std::vector<Tensor>> values;  // by node
  std::vector<Tensor> arguments;
  const auto value_of = [&](Value value) -> const Tensor& {
    return values[static_cast<std::size_t>(value.node)][static_cast<std::size_t>(value.output)];
  };
  for (const Node& node : graph.nodes()) {
    if (const auto* given = op_as<InputOp>(node)) {
      values.push_back({inputs[static_cast<std::size_t>(given->index())]});
    } else if (const auto* leaf = op_as<VariableOp>(node)) {
      values.push_back({variable(leaf->variable())});
    } else if (const auto* fixed = op_as<ConstantOp>(node)) {
      values.push_back({constant(fixed->value())});
    } else {
      arguments.clear();
      for (const Value input : node.inputs) arguments.push_back(value_of(input));
      values.push_back(apply_eagerly(node.op, arguments, node.device, node.label, {node.owner.get(), node.role}));
    }
  }
  for (const Value output : outputs) results.push_back(value_of(output));
  return results;
}

Tensor Dispatcher::variable(const VariablePtr& variable) {
  if (trace_ != nullptr) return {trace_, read(variable)};
  return eager_.of(variable);
}

Value Dispatcher::read(const VariablePtr& variable) {
  Graph& graph = trace_->graph;
  const Value value = graph.variable(variable);
  const GraphScope scope(graph, variable->device, "cast");
  return ops::cast(graph, value, cast_for(variable->type.dtype));
}

Dtype Dispatcher::cast_for(Dtype dtype) const {
  const std::optional<Dtype> as = trace_ ? trace_->variables_as : std::nullopt;
  return as && is_floating(*as) && is_floating(dtype) ? *as : dtype;
}

Dtype Dispatcher::dtype_of(const Tensor& tensor) const {
  const Dtype dtype = tensor.type().dtype;
  return !tensor.symbolic() && tensor.variable() != nullptr ? cast_for(dtype) : dtype;
}

Tensor Dispatcher::constant(const HostTensor& value) {
  if (trace_ == nullptr) return eager_.upload(value, device(), "constant");
  const GraphScope scope(trace_->graph, device(), "constant");
  return {trace_, trace_->graph.constant(value)};
}

std::shared_ptr<Trace> Dispatcher::begin_trace(const TracedReplica* replica) {
  if (trace_ != nullptr) throw Error("trace: a function is being traced already; traced functions do not nest");
  trace_ = std::make_shared<Trace>();
  trace_->graph.set_device(device());
  trace_->replica = replica;
  return trace_;
}

void Dispatcher::end_trace() noexcept {
  trace_->replica = nullptr;
  trace_ = nullptr;
}

Value Dispatcher::symbol(const Tensor& tensor) {
  if (tensor.symbolic()) {
    if (tensor.trace() == trace_) return tensor.value();
    throw Error("trace: a tensor of another traced function is used here; pass it as an argument");
  }
  if (const VariablePtr variable = tensor.variable()) return read(variable);
  const GraphScope scope(trace_->graph, tensor.device(), "constant");
  return trace_->graph.constant(eager_.download(tensor));
}

void Dispatcher::set_device(const DeviceId& device) {
  Device& next = runtime().devices().device(device);
  if (!next.in_use()) {
    if (auto why = runtime().devices().fault(device)) throw UnusableDevice(*std::move(why));
  }
  device_ = device;
}

const DeviceId& Dispatcher::device() {
  if (!device_) device_ = runtime().devices().default_device();
  return *device_;
}

GraphTrace::GraphTrace(Dispatcher& dispatcher, Graph& graph, std::optional<Dtype> variables_as)
    : dispatcher_(dispatcher),
      graph_(graph),
      trace_(std::make_shared<Trace>()),
      outer_(dispatcher.trace_),
      device_(dispatcher, graph.device()) {
  std::swap(trace_->graph, graph_);
  trace_->variables_as = variables_as;
  if (outer_ != nullptr) {
    trace_->replica = outer_->replica;
    trace_->count_calls = outer_->count_calls;
    trace_->by_element = outer_->by_element;
  }
  dispatcher_.trace_ = trace_;
}

GraphTrace::~GraphTrace() {
  std::swap(trace_->graph, graph_);
  trace_->replica = nullptr;
  dispatcher_.trace_ = outer_;
}

}  // namespace gpubench
