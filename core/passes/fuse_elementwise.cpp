// Fuses chains of element-wise ops, and casts between them, into one op: a kernel then reads and writes memory once
// instead of once per op.
#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/ops/elementwise_chain.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// Nodes first..last, each read only by the next one, and the program that replaces them.
struct ElementwiseSteps {
  std::vector<std::int32_t> nodes;
  std::vector<Value> inputs;
  std::vector<ChainStep> steps;
  double flops_per_element = 0;
};

class Chains {
 public:
  explicit Chains(const Rewriter& rewriter) : rewriter_(rewriter) {
    const std::vector<Node>& nodes = rewriter.old_graph().nodes();
    for (const Node& node : nodes) constant_.push_back(is_constant(node));
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const auto first = static_cast<std::int32_t>(index);
      if (!members_.contains(first) && joins(first)) find(first);
    }
  }

  /// Whether the node is inside a chain, not its end.
  bool absorbed(std::int32_t index) const { return members_.contains(index) && !by_end_.contains(index); }
  const ElementwiseSteps* ending_at(std::int32_t index) const {
    const auto found = by_end_.find(index);
    return found == by_end_.end() ? nullptr : &found->second;
  }

 private:
  /// Nodes that depend only on constants are computed once, at plan time.
  bool is_constant(const Node& node) const {
    if (op_as<ConstantOp>(node) != nullptr) return true;
    return !node.inputs.empty() && !node.op->has_effect() &&
           std::all_of(node.inputs.begin(), node.inputs.end(),
                       [&](Value input) { return constant_[static_cast<std::size_t>(input.node)]; });
  }

  const Node& node(std::int32_t index) const { return rewriter_.old_node({index, 0}); }

  bool joins(std::int32_t index) const {
    if (constant_[static_cast<std::size_t>(index)] || !is_floating(node(index).outputs[0].dtype)) return false;
    return op_as<Cast>(node(index)) != nullptr || ops::function_of(*node(index).op).has_value();
  }

  /// Whether the node's purpose is rounding: it must happen, so the node can only end a chain.
  bool rounds(std::int32_t index) const {
    return op_as<Cast>(node(index)) != nullptr && node(index).outputs[0].dtype != Dtype::f32;
  }

  void find(std::int32_t first) {
    ElementwiseSteps chain;
    chain.inputs = {node(first).inputs[0]};
    std::int32_t next = first;
    while (next >= 0 && append(chain, next)) next = next_of(chain);
    if (chain.nodes.size() < 2) return;
    members_.insert(chain.nodes.begin(), chain.nodes.end());
    const std::int32_t end = chain.nodes.back();
    by_end_.emplace(end, std::move(chain));
  }

  /// The only node that reads the chain's result, if it is element-wise on the same device and no variable changes
  /// before it; else -1.
  std::int32_t next_of(const ElementwiseSteps& chain) const {
    const std::int32_t last = chain.nodes.back(), user = rewriter_.only_user({last, 0});
    if (user < 0 || members_.contains(user) || !joins(user) || rounds(last)) return -1;
    const bool same_place = node(user).device == node(last).device;
    const bool same_shape = node(user).outputs[0].shape == node(last).outputs[0].shape;
    return same_place && same_shape && !rewriter_.effect_between(chain.nodes.front(), user) ? user : -1;
  }

  /// Adds a node's step; false if the program would become too long, or for a broadcast that chains do not support.
  bool append(ElementwiseSteps& chain, std::int32_t index) const {
    const Node& next = node(index);
    const std::optional<math::Function> function = ops::function_of(*next.op);
    if (function) {
      ChainStep step{*function};
      std::vector<Value> inputs = chain.inputs;
      if (next.inputs.size() == 2) {
        const Value value = chain.nodes.empty() ? next.inputs[0] : Value{chain.nodes.back(), 0};
        step.reversed = next.inputs[0] != value;
        const Value operand = next.inputs[step.reversed ? 0 : 1];
        const auto known = std::find(inputs.begin(), inputs.end(), operand);
        step.operand = static_cast<int>(known - inputs.begin());
        if (known == inputs.end()) inputs.push_back(operand);
      }
      if (inputs.size() > ElementwiseChain::max_inputs || chain.steps.size() == ElementwiseChain::max_steps)
        return false;
      if (!stretch(inputs, next.outputs[0].shape)) return false;
      chain.inputs = std::move(inputs);
      chain.steps.push_back(step);
      chain.flops_per_element += flops_per_element(next);
    }
    chain.nodes.push_back(index);
    return true;
  }

  bool stretch(const std::vector<Value>& inputs, const Shape& to) const {
    return std::all_of(inputs.begin(), inputs.end(), [&](Value input) {
      return ops::stretch_of(rewriter_.old_graph().type(input).shape, to).has_value();
    });
  }

  double flops_per_element(const Node& of) const {
    std::vector<TensorType> types;
    for (const Value input : of.inputs) types.push_back(rewriter_.old_graph().type(input));
    const auto elements = static_cast<double>(of.outputs[0].elements());
    return elements == 0 ? 0 : of.op->flops(types, of.outputs) / elements;
  }

  const Rewriter& rewriter_;
  std::vector<bool> constant_;
  std::set<std::int32_t> members_;
  std::map<std::int32_t, ElementwiseSteps> by_end_;
};

}  // namespace

Program fuse_elementwise(Program program) {
  Rewriter rewriter(program);
  const Chains chains(rewriter);
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    if (chains.absorbed(index)) continue;
    const ElementwiseSteps* const chain = chains.ending_at(index);
    if (chain == nullptr) {
      rewriter.keep(index);
      continue;
    }
    std::vector<Value> inputs;
    for (const Value input : chain->inputs) inputs.push_back(rewriter.map(input));
    const Dtype dtype = rewriter.old_node({index, 0}).outputs[0].dtype;
    auto op = std::make_shared<const ElementwiseChain>(chain->steps, dtype, chain->flops_per_element);
    rewriter.replace({index, 0}, rewriter.add(index, std::move(op), inputs));
  }
  return rewriter.finish();
}

}  // namespace gpubench
