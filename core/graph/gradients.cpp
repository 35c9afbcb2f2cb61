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
std::vector<bool> dependents(const Graph& graph, Value loss, std::span<const Value> wanted) {
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

Origin gradient_of(const Origin& forward) {
  return {forward.device, forward.label + "/gradient", forward.owner, Role::gradient};
}

/// Walks back from `loss` to the requested values; `sums` is empty or has one for each.
std::vector<Value> differentiate(Graph& graph, Value loss, std::span<const Value> with_respect_to,
                                 std::span<const Value> sums) {
  const TensorType loss_type = graph.type(loss);
  if (!loss_type.shape.empty() || !is_floating(loss_type.dtype)) {
    throw Error(fmt::format("gradient: the loss must be a floating-point scalar, got {}; reduce it with mean or sum",
                            to_string(loss_type)));
  }
  const std::vector<bool> depends = dependents(graph, loss, with_respect_to);
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
    const std::vector<Value> input_gradients = node.op->gradient(graph, node.inputs, outputs, output_gradients);
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      const Value input = node.inputs[i];
      if (input_gradients[i] && depends[static_cast<std::size_t>(input.node)]) {
        pending[{input.node, input.output}].push_back(input_gradients[i]);
        if (summed.contains({input.node, input.output})) take_sum(graph, pending, input);
      }
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

std::vector<Value> gradients(Graph& graph, Value loss, std::span<const Value> with_respect_to) {
  return differentiate(graph, loss, with_respect_to, {});
}

std::vector<Value> add_gradients(Graph& graph, Value loss, std::span<const Value> with_respect_to,
                                 std::span<const Value> sums) {
  return differentiate(graph, loss, with_respect_to, sums);
}

}  // namespace gpubench
