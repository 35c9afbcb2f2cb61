#include "core/graph/gradients.h"

#include <cstdint>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

/// Marks the nodes that depend on a requested value.
std::vector<bool> dependents(const Graph& graph, Value loss, Values wanted) {
  std::vector<bool> depends(static_cast<std::size_t>(loss.node) + 1, false);
  for (const Value value : wanted) {
    if (value.node <= loss.node) depends[static_cast<std::size_t>(value.node)] = true;
  }
  for (std::size_t i = 0; i < depends.size(); ++i) {
    for (const Value input : graph.nodes()[i].inputs) {
      if (depends[static_cast<std::size_t>(input.node)]) depends[i] = true;
    }
  }
  return depends;
}

/// Which values are the memory of a variable, and when nodes write it.
class Writes {
 public:
  explicit Writes(const Graph& graph) {
    for (std::size_t i = 0; i < graph.nodes().size(); ++i) add(graph.nodes()[i], static_cast<std::int32_t>(i));
  }

  /// Throws Error where `added`, a gradient of node `of`, reads what has been written since that node read it.
  void check(const Graph& graph, const Node& added, std::int32_t of) const {
    for (const Value input : added.inputs) {
      const std::int32_t variable = variable_of(input);
      if (variable < 0) continue;
      const auto written = last_.find(variable);
      if (written == last_.end() || written->second < of) continue;
      const auto* const leaf = op_as<VariableOp>(graph.nodes()[static_cast<std::size_t>(variable)]);
      throw Error(fmt::format(
          "gradient: '{}' needs the value that variable '{}' had when it was read, and the variable has been written "
          "since; take the gradient before the update, or read a copy (v + 0)",
          graph.nodes()[static_cast<std::size_t>(of)].op->name(), leaf->variable()->name));
    }
  }

 private:
  std::int32_t variable_of(Value value) const {
    const auto index = static_cast<std::size_t>(value.node);
    return index < variables_.size() ? variables_[index] : -1;
  }
  void add(const Node& node, std::int32_t index) {
    std::int32_t variable = op_as<VariableOp>(node) != nullptr ? index : -1;
    if (node.op->is_view()) variable = variable_of(node.inputs[0]);
    for (const Alias& alias : node.op->aliases()) {
      if (alias.kind != Alias::Kind::in_place) continue;
      const std::int32_t written = variable_of(node.inputs[static_cast<std::size_t>(alias.input)]);
      if (written >= 0) last_[written] = index;
      if (alias.output == 0) variable = written;
    }
    variables_.push_back(variable);
  }

  std::vector<std::int32_t> variables_;  // by node: the node of the variable whose memory its first output is, or -1
  std::map<std::int32_t, std::int32_t> last_;  // by node of a variable: the last node that writes it
};

using Pending = std::map<std::pair<std::int32_t, std::int32_t>, std::vector<Value>>;

Value take_sum(Graph& graph, Pending& pending, Value of) {
  const auto found = pending.find({of.node, of.output});
  if (found == pending.end()) return {};
  std::vector<Value> parts = found->second;
  if (parts.size() == 1) return parts[0];
  const Value sum = graph.apply(std::make_shared<const AddN>(), parts);
  found->second = {sum};
  return sum;
}

/// A scalar 1 of a floating-point type.
HostTensor one(Dtype dtype) {
  if (dtype == Dtype::f32) return HostTensor::scalar(1.0F);
  constexpr std::uint16_t one_as_float16 = 0x3C00, one_as_bfloat16 = 0x3F80;
  HostTensor value(TensorType{{}, dtype});
  *reinterpret_cast<std::uint16_t*>(value.data()) = dtype == Dtype::f16 ? one_as_float16 : one_as_bfloat16;
  return value;
}

[[noreturn]] void refuse_gradient(const Graph& graph, const Node& node, std::size_t input) {
  const std::string_view name = node.op->name();
  const std::string& within = node.owner == nullptr ? node.label : node.owner->name;
  const std::string place = within.empty() || within == name ? "" : fmt::format(" in '{}'", within);
  throw Error(fmt::format(
      "gradient: '{}'{} has no rule for the gradient of its input {} ({}), and the loss depends on it; put it where "
      "nothing is differentiated, or write it with other ops",
      name, place, input + 1, to_string(graph.type(node.inputs[input]))));
}

Origin gradient_of(const Origin& forward) {
  return {forward.device, forward.label + "/gradient", forward.owner, Role::gradient};
}

/// Walks back from `loss` to the requested values; `sums` is empty or has one for each.
std::vector<Value> differentiate(Graph& graph, Value loss, Values with_respect_to, Values sums) {
  const TensorType loss_type = graph.type(loss);
  if (!loss_type.shape.empty() || !is_floating(loss_type.dtype)) {
    throw Error(fmt::format("gradient: the loss must be a floating-point scalar, got {}; reduce it with mean or sum",
                            to_string(loss_type)));
  }
  const std::vector<bool> depends = dependents(graph, loss, with_respect_to);
  const Writes writes(graph);
  Pending pending;
  {
    const GraphScope scope(graph, gradient_of(graph.node(loss)));
    pending[{loss.node, loss.output}] = {graph.constant(one(loss_type.dtype))};
  }
  std::set<std::pair<std::int32_t, std::int32_t>> summed;
  for (std::size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i]) continue;
    const Value value = with_respect_to[i];
    pending[{value.node, value.output}] = {sums[i]};
    summed.insert({value.node, value.output});
  }

  for (std::int32_t index = loss.node; index >= 0; --index) {
    if (!depends[static_cast<std::size_t>(index)]) continue;
    const Node node = graph.nodes()[static_cast<std::size_t>(index)];  // a copy, because the vector grows below
    if (node.inputs.empty()) continue;
    const GraphScope scope(graph, gradient_of(node));
    std::vector<Value> outputs, output_gradients;
    bool reached = false;
    for (std::int32_t output = 0; output < static_cast<std::int32_t>(node.outputs.size()); ++output) {
      outputs.push_back({index, output});
      output_gradients.push_back(take_sum(graph, pending, {index, output}));
      reached = reached || output_gradients.back();
    }
    if (!reached) continue;
    const std::size_t before = graph.nodes().size();
    const std::vector<Value> input_gradients = node.op->gradient(graph, node.inputs, outputs, output_gradients);
    for (std::size_t added = before; added < graph.nodes().size(); ++added) {
      writes.check(graph, graph.nodes()[added], index);
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value input = node.inputs[i];
      if (!depends[static_cast<std::size_t>(input.node)] || input_gradients[i] == zero_gradient) continue;
      if (!input_gradients[i]) {
        if (is_floating(graph.type(input).dtype)) refuse_gradient(graph, node, i);
        continue;
      }
      pending[{input.node, input.output}].push_back(input_gradients[i]);
      if (summed.contains({input.node, input.output})) take_sum(graph, pending, input);
    }
  }

  std::vector<Value> result;
  for (const Value value : with_respect_to) {
    const GraphScope scope(graph, gradient_of(graph.node(value)));
    result.push_back(take_sum(graph, pending, value));
  }
  return result;
}

}  // namespace

std::vector<Value> gradients(Graph& graph, Value loss, Values with_respect_to) {
  return differentiate(graph, loss, with_respect_to, {});
}

std::vector<Value> add_gradients(Graph& graph, Value loss, Values with_respect_to, Values sums) {
  return differentiate(graph, loss, with_respect_to, sums);
}

}  // namespace gpubench
