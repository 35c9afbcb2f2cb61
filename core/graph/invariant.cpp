#include "core/graph/invariant.h"

#include <algorithm>

#include "core/graph/leaf_ops.h"

namespace gpubench {
namespace {

std::size_t at(Value value) {
  return static_cast<std::size_t>(value.node);
}

/// By node: whether its memory is updated in place, directly or through views.
std::vector<bool> updated_nodes(const Graph& graph) {
  std::vector<bool> updated(graph.nodes().size(), false);
  for (const Node& node : graph.nodes()) {
    for (const Alias& alias : node.op->aliases()) {
      if (alias.kind != Alias::Kind::in_place) continue;
      Value memory = node.inputs[static_cast<std::size_t>(alias.input)];
      updated[at(memory)] = true;
      for (;;) {
        const std::vector<Alias> aliases = graph.node(memory).op->aliases();
        if (aliases.empty() || aliases[0].kind == Alias::Kind::may_overwrite) break;
        memory = graph.node(memory).inputs[static_cast<std::size_t>(aliases[0].input)];
        updated[at(memory)] = true;
      }
    }
  }
  return updated;
}

}  // namespace

std::vector<bool> invariant_nodes(const Graph& graph) {
  const std::vector<bool> updated = updated_nodes(graph);
  std::vector<bool> invariant;
  for (const Node& node : graph.nodes()) {
    const Op& op = *node.op;
    const bool changes = dynamic_cast<const InputOp*>(&op) != nullptr || updated[invariant.size()] || op.has_effect() ||
                         dynamic_cast<const Transfer*>(&op) != nullptr;
    invariant.push_back(!changes &&
                        std::ranges::all_of(node.inputs, [&](Value input) { return invariant[at(input)]; }));
  }
  return invariant;
}

}  // namespace gpubench
