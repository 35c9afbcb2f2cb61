// Packs the weights of int8 products in the device's own order, once, if they depend only on variables.

#include <memory>
#include <vector>

#include "core/graph/invariant.h"
#include "core/ops/quantized_linear.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// The op that reads packed weights; none if the node is no such op or already reads packed weights.
template <class O>
OpPtr reader_of_packed(const Graph& graph, const Node& node) {
  const O* op = op_as<O>(node);
  if (op == nullptr || !op->options.packed.empty()) return nullptr;
  auto options = op->options;
  options.packed = graph.type(node.inputs[1]).shape;
  return std::make_shared<const O>(std::move(options));
}

}  // namespace

Program pack_weights(Program program) {
  Rewriter rewriter(program);
  const Graph& graph = rewriter.old_graph();
  const std::vector<bool> invariant = invariant_nodes(graph);
  const auto count = static_cast<std::int32_t>(graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    const Node& node = rewriter.old_node({index, 0});
    OpPtr reader = reader_of_packed<QuantizedMatmul>(graph, node);
    if (reader == nullptr) reader = reader_of_packed<QuantizedConv2D>(graph, node);
    if (reader == nullptr || !invariant[static_cast<std::size_t>(node.inputs[1].node)]) {
      rewriter.keep(index);
      continue;
    }
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(rewriter.map(input));
    const auto pack = std::make_shared<const PackWeights>(reader, graph.type(node.inputs[0]));
    inputs[1] = rewriter.add(index, pack, std::vector{inputs[1]});
    rewriter.replace({index, 0}, rewriter.add(index, reader, inputs));
  }
  return rewriter.finish();
}

}  // namespace gpubench
