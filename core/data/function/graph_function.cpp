#include "core/data/function/graph_function.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>
#include <fmt/format.h>
#include <optional>
#include <typeinfo>
#include <vector>

#include "core/base/error.h"
#include "core/exec/run/in_place_program.h"
#include "core/graph/copy.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/random.h"
#include "core/passes/vectorize.h"

namespace gpubench {
namespace {

/// A CPU device with a single thread, and no device of another backend.
DevicePlace one_thread() {
  DeviceConfig config;
  for (const DeviceId::Kind kind : device_kinds()) config[kind].devices.emplace();
  config[DeviceId::Kind::cpu].devices->push_back({.threads = 1});
  return {std::make_shared<const Devices>(config), DeviceId{}};
}

/// Number of elements computed at once, a power of two: their inputs, outputs and intermediate values fit a quarter of
/// a megabyte, which leaves room in the second-level cache of current processors.
std::int64_t block_for(const Graph& element) {
  constexpr std::int64_t cache_bytes = 256 << 10, most = 256;
  std::int64_t bytes = 1;
  for (const Node& node : element.nodes()) {
    if (dynamic_cast<const ConstantOp*>(node.op.get()) != nullptr) continue;
    for (const TensorType& type : node.outputs) bytes += static_cast<std::int64_t>(type.bytes());
  }
  return static_cast<std::int64_t>(
      std::bit_floor(static_cast<std::uint64_t>(std::clamp<std::int64_t>(cache_bytes / bytes, 1, most))));
}

/// Runs a graph of one element over blocks of elements, on the place's threads, and writes results directly into the
/// consumer's memory; element by element if an op has no block form. The last input of the graph is the element's
/// number, int64[]; the others are the element's tensors.
///
/// Blocks are cut into powers of two, each with its own plan, made at its first use: a few plans serve all counts, and
/// the last block of an epoch takes a few runs.
class GraphRunner final : public ElementRunner {
 public:
  GraphRunner(Program element, const DevicePlace& place)
      : place_(place),
        element_(std::move(element)),
        block_(vectorize(element_, 2) ? block_for(element_.graph) : 1),
        programs_(static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(block_)))),
        numbers_(static_cast<std::size_t>(block_)) {
    for (const Value input : element_.graph.inputs()) input_bytes_.push_back(element_.graph.type(input).bytes());
    for (const Value output : element_.outputs) output_types_.push_back(element_.graph.type(output));
    inputs_.resize(input_bytes_.size());
    outputs_.resize(output_types_.size());
    program(1);
  }

  std::int64_t block() const override { return block_; }

  void run(const ElementBlock& elements, ElementOutputs& outputs) override {
    for (std::size_t i = 0; i < elements.inputs.size(); ++i) inputs_[i] = elements.inputs[i].data;
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] = outputs.place(i, output_types_[i]);
    inputs_.back() = reinterpret_cast<std::byte*>(numbers_.data());
    for (std::int64_t done = 0; done < elements.count;) {
      const auto left = static_cast<std::uint64_t>(std::min(elements.count - done, block_));
      const auto count = static_cast<std::int64_t>(std::bit_floor(left));
      for (std::int64_t i = 0; i < count; ++i) {
        numbers_[static_cast<std::size_t>(i)] = elements.number + (done + i) * elements.stride;
      }
      program(count).run(inputs_, outputs_);
      done += count;
      if (done < elements.count) pass_over(static_cast<std::size_t>(count));
    }
  }

 private:
  /// The plan for `count` elements, a power of two.
  InPlaceProgram& program(std::int64_t count) {
    auto& program = programs_[static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(count)))];
    if (program == nullptr) {
      Program blocks = count == 1 ? element_ : *vectorize(element_, count);
      program = std::make_unique<InPlaceProgram>(*place_.devices, std::move(blocks), place_.id);
    }
    return *program;
  }

  void pass_over(std::size_t count) {
    for (std::size_t i = 0; i + 1 < inputs_.size(); ++i) inputs_[i] += count * input_bytes_[i];
    for (std::size_t i = 0; i < outputs_.size(); ++i) outputs_[i] += count * output_types_[i].bytes();
  }

  const DevicePlace place_;
  Program element_;
  std::int64_t block_;
  std::vector<std::unique_ptr<InPlaceProgram>> programs_;  // by exponent of two
  std::vector<std::int64_t> numbers_;
  std::vector<std::size_t> input_bytes_;
  std::vector<TensorType> output_types_;
  std::vector<std::byte*> inputs_, outputs_;
};

/// Whether the value is the default step.
bool is_zero(const Node& node) {
  const auto* constant = op_as<ConstantOp>(node);
  if (constant == nullptr || constant->value().type() != TensorType{{}, Dtype::i64}) return false;
  return constant->value().values<std::int64_t>()[0] == 0;
}

/// The device of traced functions, independent of where they run.
const DeviceId traced_on{};

/// Whether the node runs where the function does: all but what the script has placed elsewhere. Values of its tensors
/// are constants, wherever the tensors are.
bool moves(const Node& node) {
  return node.device == traced_on || op_as<ConstantOp>(node) != nullptr;
}

/// Adds the trace's nodes and returns its outputs; random ops without their own step draw by the element's number.
std::vector<Value> add_trace(Graph& graph, const TracedElement& trace, Values inputs, Value number) {
  const std::vector<Value> copies = copy_nodes(trace.graph, graph, [&](Node& copy, const Node& node) {
    if (const auto* const input = op_as<InputOp>(node)) return inputs[static_cast<std::size_t>(input->index())];
    if (moves(node)) copy.device = graph.device();
    const bool draws = op_as<RandomOp>(node) != nullptr;
    if (draws && is_zero(trace.graph.node(node.inputs.back()))) copy.inputs.back() = number;
    return Value{};
  });
  std::vector<Value> outputs;
  for (const Value output : trace.outputs) outputs.push_back(copy_of(copies, output));
  return outputs;
}

using Traces = std::vector<std::shared_ptr<const TracedElement>>;

/// The functions applied one after the other, for inputs of these types and, as the last input, the element's number.
Program joined(const Traces& traces, TensorTypes types, const DeviceId& device) {
  Program program;
  program.graph.set_device(device);
  std::vector<Value> values;
  for (const TensorType& type : types) {
    values.push_back(program.graph.input(type, fmt::format("argument {}", values.size() + 1)));
  }
  const Value number = program.graph.input({{}, Dtype::i64}, "element number");
  for (const auto& trace : traces) values = add_trace(program.graph, *trace, values, number);
  program.outputs = std::move(values);
  return program;
}

std::vector<TensorType> types_of(const Graph& graph, Values values) {
  std::vector<TensorType> types;
  for (const Value value : values) types.push_back(graph.type(value));
  return types;
}

class GraphFunction final : public ElementFunction {
 public:
  /// `varies`: whether inputs may have other types than the first trace's.
  GraphFunction(Traces traces, bool varies, std::optional<DevicePlace> place = {})
      : traces_(std::move(traces)), varies_(varies), place_(std::move(place)) {}

  std::vector<TensorType> output_types(TensorTypes inputs) const override {
    const Program program = typed(inputs);
    return types_of(program.graph, program.outputs);
  }
  std::unique_ptr<ElementRunner> plan(TensorTypes inputs) const override {
    return std::make_unique<GraphRunner>(typed(inputs), place_ ? *place_ : one_thread());
  }

  std::shared_ptr<const GraphFunction> then(const GraphFunction& next) const {
    Traces both = traces_;
    both.insert(both.end(), next.traces_.begin(), next.traces_.end());
    return std::make_shared<const GraphFunction>(std::move(both), varies_, place_);
  }

  std::shared_ptr<const GraphFunction> on(const DevicePlace& place) const {
    place.device();  // throws if there is none
    for (const auto& trace : traces_) {
      for (const Node& node : trace->graph.nodes()) {
        if (moves(node) || node.device == place.id) continue;
        throw Error(fmt::format("map: its function runs on {}, and places an op on {} itself", to_string(place.id),
                                to_string(node.device)));
      }
    }
    return std::make_shared<const GraphFunction>(traces_, varies_, place);
  }

  Program typed(TensorTypes inputs) const {
    assert(varies_ || std::ranges::equal(inputs, types_of(traces_[0]->graph, traces_[0]->graph.inputs())));
    return joined(traces_, inputs, place_ ? place_->id : traced_on);
  }

 private:
  Traces traces_;  // applied in this order
  bool varies_;
  std::optional<DevicePlace> place_;
};

std::shared_ptr<const ElementFunction> function_of(TracedElement trace, bool varies) {
  return std::make_shared<const GraphFunction>(Traces{std::make_shared<const TracedElement>(std::move(trace))}, varies);
}

void check_variables(const Graph& graph) {
  if (graph.variables().empty()) return;
  throw Error(
      fmt::format("map: the function reads variable '{}', which belongs to the "
                  "training step; use its values as a constant",
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
  return a.extents_read == b.extents_read && a.outputs == b.outputs &&
         std::equal(a.graph.nodes().begin(), a.graph.nodes().end(), b.graph.nodes().begin(), b.graph.nodes().end(),
                    same_node);
}

}  // namespace

std::shared_ptr<const ElementFunction> graph_function(TracedElement trace) {
  check_variables(trace.graph);
  return function_of(std::move(trace), false);
}

std::shared_ptr<const ElementFunction> graph_function(TracedElement trace, const TracedElement& other) {
  check_variables(trace.graph);
  if (!same_function(trace, other)) {
    throw Error(
        "map: the function depends on an extent that varies from element to element: it reads #x or x.shape[i] of one, "
        "or an op was made for it. Where elements are batches, only the last is smaller: batch with drop_remainder, or "
        "map before the batch. Where their own sizes differ, bring them to one size before (gb.image.resize, "
        "padded_batch); else gb.data.lua_function(fn) is called for every element");
  }
  return function_of(std::move(trace), true);
}

std::shared_ptr<const ElementFunction> placed(const ElementFunction& function, const DevicePlace& place) {
  if (const auto* graph = dynamic_cast<const GraphFunction*>(&function)) return graph->on(place);
  throw Error(fmt::format(
      "map: only a function that is traced runs on a device; this one works on the host, so that it cannot be on {}",
      to_string(place.id)));
}

Program program_of(const ElementFunction& function, TensorTypes inputs) {
  return dynamic_cast<const GraphFunction&>(function).typed(inputs);
}

std::shared_ptr<const ElementFunction> compose(const ElementFunction& first, const ElementFunction& second) {
  const auto* one = dynamic_cast<const GraphFunction*>(&first);
  const auto* other = dynamic_cast<const GraphFunction*>(&second);
  return one != nullptr && other != nullptr ? one->then(*other) : nullptr;
}

}  // namespace gpubench
