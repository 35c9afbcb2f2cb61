#include "core/graph/mirror.h"

#include <fmt/format.h>
#include <memory>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"

namespace gpubench {

Graph mirrored(const Graph& graph, const DeviceId& from, const DeviceId& to,
               const std::function<VariablePtr(const VariablePtr&)>& own) {
  Graph mirror;
  std::vector<Value> first;  // by node; a variable's node may stand elsewhere
  for (Node node : graph.nodes()) {
    if (node.device != from) {
      throw Error(
          fmt::format("a replica has one device: '{}' is on {}, and the strategy's first device is {}; make "
                      "everything in strategy:scope without gb.device",
                      node.label, to_string(node.device), to_string(from)));
    }
    node.device = to;
    for (Value& input : node.inputs) {
      input = {first[static_cast<std::size_t>(input.node)].node, input.output};
    }
    const auto* const variable = dynamic_cast<const VariableOp*>(node.op.get());
    first.push_back(variable != nullptr ? mirror.variable(own(variable->variable())) : mirror.adopt(std::move(node)));
  }
  return mirror;
}

}  // namespace gpubench
