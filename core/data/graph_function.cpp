#include "core/data/graph_function.h"

#include <algorithm>
#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <typeinfo>

#include "core/backend/registry/devices.h"
#include "core/base/error.h"
#include "core/exec/executor.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/random.h"

namespace gpubench {
namespace {

const DeviceConfig& one_thread() {
  static const DeviceConfig config{
      .gpus = std::vector<GpuDeviceOptions>{}, .cpus = {CpuDeviceConfig{.memory = {}, .threads = 1}}, .threads = 1};
  return config;
}

bool draws(const Op& op) {
  return dynamic_cast<const RandomUniform*>(&op) != nullptr || dynamic_cast<const RandomNormal*>(&op) != nullptr ||
         dynamic_cast<const Dropout*>(&op) != nullptr;
}

/// The same function for other input types, with one more input: the element's number, which random ops take as step.
TracedElement retyped(const TracedElement& trace, std::span<const TensorType> types) {
  TracedElement other;
  std::vector<Value> added;
  const auto moved = [&](Value value) { return Value{added[static_cast<std::size_t>(value.node)].node, value.output}; };
  for (const TensorType& type : types)
    other.graph.input(type, fmt::format("argument {}", other.graph.inputs().size() + 1));
  const Value number = other.graph.input({{}, Dtype::i64}, "element number");
  for (const Node& node : trace.graph.nodes()) {
    if (const auto* input = dynamic_cast<const InputOp*>(node.op.get())) {
      added.push_back(other.graph.inputs()[static_cast<std::size_t>(input->index())]);
    } else if (const auto* constant = dynamic_cast<const ConstantOp*>(node.op.get())) {
      added.push_back(other.graph.constant(constant->value()));
    } else {
      const GraphScope place(other.graph, node.device, node.label);
      std::vector<Value> inputs;
      for (const Value value : node.inputs) inputs.push_back(moved(value));
      if (draws(*node.op)) inputs.back() = number;
      added.push_back(other.graph.apply(node.op, inputs));
    }
  }
  for (const Value output : trace.outputs) other.outputs.push_back(moved(output));
  return other;
}

std::vector<TensorType> types_of(const Graph& graph, std::span<const Value> values) {
  std::vector<TensorType> types;
  for (const Value value : values) types.push_back(graph.type(value));
  return types;
}

class GraphRunner final : public ElementRunner {
 public:
  explicit GraphRunner(TracedElement trace)
      : outputs_(trace.outputs.size()),
        devices_(one_thread()),
        runtime_(devices_),
        executor_(make_executor(runtime_, std::move(trace.graph), std::move(trace.outputs))) {}

  void run(std::int64_t number, std::span<const TensorView> inputs, std::span<const TensorView> outputs) override {
    number_.values<std::int64_t>()[0] = number;
    views_.assign(inputs.begin(), inputs.end());
    views_.push_back(number_.view());
    executor_->run(views_);
    Stream& stream = runtime_.stream(devices_.default_device());
    for (std::size_t i = 0; i < outputs_; ++i) {
      stream.copy(outputs[i].data, executor_->result(static_cast<int>(i)).data, outputs[i].type->bytes());
    }
    runtime_.synchronize();
  }

 private:
  std::size_t outputs_;
  Devices devices_;
  Runtime runtime_;
  std::unique_ptr<Executor> executor_;
  HostTensor number_ = HostTensor::scalar(std::int64_t{0});
  std::vector<TensorView> views_;
};

class GraphFunction final : public ElementFunction {
 public:
  GraphFunction(TracedElement trace, bool varies)
      : trace_(std::move(trace)), inputs_(types_of(trace_.graph, trace_.graph.inputs())), varies_(varies) {}

  std::vector<TensorType> output_types(std::span<const TensorType> inputs) const override {
    if (is_traced_for(inputs)) return types_of(trace_.graph, trace_.outputs);
    const TracedElement other = retyped(trace_, inputs);
    return types_of(other.graph, other.outputs);
  }
  std::unique_ptr<ElementRunner> plan(std::span<const TensorType> inputs) const override {
    return std::make_unique<GraphRunner>(retyped(trace_, inputs));
  }

 private:
  bool is_traced_for(std::span<const TensorType> inputs) const {
    const bool same = std::equal(inputs.begin(), inputs.end(), inputs_.begin(), inputs_.end());
    assert(same || varies_);
    return same;
  }

  TracedElement trace_;
  std::vector<TensorType> inputs_;
  bool varies_;
};

void check_variables(const Graph& graph) {
  if (graph.variables().empty()) return;
  throw Error(
      fmt::format("map: the function reads variable '{}', which belongs to the training step; use its values as a "
                  "constant",
                  graph.variables().front()->name));
}

bool same_op(const Op& a, const Op& b) {
  if (typeid(a) != typeid(b) || a.attributes() != b.attributes()) return false;
  const auto* constant = dynamic_cast<const ConstantOp*>(&a);
  if (constant == nullptr) return true;
  const HostTensor& left = constant->value();
  const HostTensor& right = dynamic_cast<const ConstantOp&>(b).value();
  return left.type() == right.type() && std::memcmp(left.data(), right.data(), left.bytes()) == 0;
}

bool same_function(const TracedElement& a, const TracedElement& b) {
  const auto same_node = [](const Node& left, const Node& right) {
    return left.inputs == right.inputs && left.device == right.device && same_op(*left.op, *right.op);
  };
  return a.outputs == b.outputs && std::equal(a.graph.nodes().begin(), a.graph.nodes().end(), b.graph.nodes().begin(),
                                              b.graph.nodes().end(), same_node);
}

}  // namespace

std::shared_ptr<const ElementFunction> graph_function(TracedElement trace) {
  check_variables(trace.graph);
  return std::make_shared<GraphFunction>(std::move(trace), false);
}

std::shared_ptr<const ElementFunction> graph_function(TracedElement trace, const TracedElement& other) {
  check_variables(trace.graph);
  if (!same_function(trace, other)) {
    throw Error(
        "map: the function depends on the batch's size, and the last batch may be smaller; batch with "
        "drop_remainder, or map before the batch");
  }
  return std::make_shared<GraphFunction>(std::move(trace), true);
}

}  // namespace gpubench
