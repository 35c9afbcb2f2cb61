#include "core/passes/rewriter.h"

#include <algorithm>
#include <cassert>

#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

std::size_t at(std::int32_t index) {
  return static_cast<std::size_t>(index);
}

}  // namespace

Rewriter::Rewriter(const Program& program) : program_(program) {
  const std::vector<Node>& nodes = program.graph.nodes();
  for (const Node& node : nodes) {
    mapped_.emplace_back(node.outputs.size());
    uses_.emplace_back(node.outputs.size(), 0);
    user_.emplace_back(node.outputs.size(), -1);
  }
  std::int32_t effects = 0;
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    effects_before_.push_back(effects);
    if (nodes[index].op->has_effect()) ++effects;
    for (const Value input : nodes[index].inputs) {
      ++uses_[at(input.node)][at(input.output)];
      user_[at(input.node)][at(input.output)] = static_cast<std::int32_t>(index);
    }
  }
  for (const Value output : program.outputs) {
    ++uses_[at(output.node)][at(output.output)];
    user_[at(output.node)][at(output.output)] = -1;
  }
}

int Rewriter::uses(Value value) const {
  return uses_[at(value.node)][at(value.output)];
}

std::int32_t Rewriter::only_user(Value value) const {
  return uses(value) == 1 ? user_[at(value.node)][at(value.output)] : -1;
}

bool Rewriter::effect_between(std::int32_t first, std::int32_t last) const {
  return effects_before_[at(last)] != effects_before_[at(first) + 1];
}

Value Rewriter::memory_of(Value value) const {
  for (;;) {
    const Node& from = old_node(value);
    const std::vector<Alias> aliases = from.op->aliases();
    const auto shared = std::ranges::find_if(aliases, [&](const Alias& alias) {
      return alias.output == value.output && alias.kind != Alias::Kind::may_overwrite;
    });
    if (shared == aliases.end()) return value;
    value = from.inputs[at(shared->input)];
  }
}

bool Rewriter::changes_between(Value value, std::int32_t first, std::int32_t last) const {
  if (!effect_between(first, last)) return false;
  const Value memory = memory_of(value);
  for (std::int32_t index = first + 1; index < last; ++index) {
    const Node& node = program_.graph.nodes()[at(index)];
    for (const Alias& alias : node.op->aliases()) {
      if (alias.kind == Alias::Kind::in_place && memory_of(node.inputs[at(alias.input)]) == memory) return true;
    }
  }
  return false;
}

Value Rewriter::map(Value old) const {
  const Value value = mapped_[at(old.node)][at(old.output)];
  assert(value && "a pass reads a value that it has neither kept nor replaced");
  return value;
}

void Rewriter::replace(Value old, Value replacement) {
  mapped_[at(old.node)][at(old.output)] = replacement;
}

void Rewriter::keep(std::int32_t index) {
  Node node = program_.graph.nodes()[at(index)];
  for (Value& input : node.inputs) input = map(input);
  put(index, std::move(node));
}

void Rewriter::put(std::int32_t index, Node node) {
  const auto outputs = static_cast<std::int32_t>(node.outputs.size());
  const Value first = graph_.adopt(std::move(node));
  for (std::int32_t output = 0; output < outputs; ++output) replace({index, output}, {first.node, output});
}

Value Rewriter::add(std::int32_t index, OpPtr op, Values inputs) {
  const GraphScope scope(graph_, program_.graph.nodes()[at(index)]);
  return graph_.apply(std::move(op), inputs);
}

Program Rewriter::finish() {
  std::vector<Value> outputs;
  for (const Value output : program_.outputs) outputs.push_back(map(output));
  return {std::move(graph_), std::move(outputs)};
}

Program remove_dead_code(Program program) {
  const std::vector<Node>& nodes = program.graph.nodes();
  std::vector<bool> wanted(nodes.size(), false);
  for (const Value output : program.outputs) wanted[at(output.node)] = true;
  for (auto index = static_cast<std::int32_t>(nodes.size()) - 1; index >= 0; --index) {
    const Node& node = nodes[at(index)];
    if (node.op->has_effect() || op_as<InputOp>(node) != nullptr) wanted[at(index)] = true;
    if (!wanted[at(index)]) continue;
    for (const Value input : node.inputs) wanted[at(input.node)] = true;
  }
  Rewriter rewriter(program);
  for (std::size_t index = 0; index < nodes.size(); ++index) {
    if (wanted[index]) rewriter.keep(static_cast<std::int32_t>(index));
  }
  return rewriter.finish();
}

}  // namespace gpubench
