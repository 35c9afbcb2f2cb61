// Adds transfers so that every op's inputs are on its own device: one transfer per value and device.
#include <fmt/format.h>
#include <map>
#include <memory>
#include <tuple>

#include "core/base/error.h"
#include "core/graph/leaf_ops.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// Existing copies, by node, output, destination, and number of earlier effects. A variable may be updated between two
/// readers on another device, so a copy is valid only until the next effect.
using Copies = std::map<std::tuple<std::int32_t, std::int32_t, DeviceId, int>, Value>;

/// Refuses an update of a copy, which would be lost.
void refuse_update_of_copy(const Node& node, std::size_t input, const DeviceId& lies_on) {
  for (const Alias& alias : node.op->aliases()) {
    if (alias.kind != Alias::Kind::in_place || alias.input != static_cast<int>(input)) continue;
    throw Error(fmt::format("{}: updates a tensor on {} in place, but the op is placed on {}; place both on one device",
                            node.label, to_string(lies_on), to_string(node.device)));
  }
}

}  // namespace

Program place_copies(Program program) {
  Rewriter rewriter(program);
  Copies copies;
  int effects = 0;
  const std::vector<Node>& nodes = program.graph.nodes();
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node node = nodes[i];
    if (!node.inputs.empty() && op_as<Transfer>(node) == nullptr) {
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        Value& input = node.inputs[k];
        const Value here = rewriter.map(input);
        if (rewriter.graph().node(here).device == node.device) {
          input = here;
          continue;
        }
        refuse_update_of_copy(node, k, rewriter.graph().node(here).device);
        const auto key = std::tuple(input.node, input.output, node.device, effects);
        auto copy = copies.find(key);
        if (copy == copies.end()) {
          const Origin origin{node.device, node.label + "/transfer", node.owner, node.role};
          const GraphScope scope(rewriter.graph(), origin);
          copy = copies.emplace(key, rewriter.graph().apply(std::make_shared<const Transfer>(), {here})).first;
        }
        input = copy->second;
      }
    } else {
      for (Value& input : node.inputs) input = rewriter.map(input);
    }
    if (node.op->has_effect()) ++effects;
    rewriter.put(static_cast<std::int32_t>(i), std::move(node));
  }
  return rewriter.finish();
}

}  // namespace gpubench
