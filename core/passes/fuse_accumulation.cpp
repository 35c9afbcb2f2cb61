// Fuses a product and the addition of it to a sum into one op, on devices that can multiply onto a sum: micro-batches
// then accumulate gradients without an extra pass over memory.
#include <array>
#include <memory>
#include <set>

#include "core/graph/leaf_ops.h"
#include "core/ops/fused_matmul.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// sum + product, if no other node reads the product.
struct Accumulation {
  std::int32_t product = -1;
  std::array<Value, 3> inputs;  ///< of the fused op, in the old graph
  OpPtr op;
};

Accumulation find_accumulation(const Rewriter& rewriter, std::int32_t index, const Fuses& fuses) {
  const Node& add = rewriter.old_node({index, 0});
  if (op_as<AddN>(add) == nullptr || add.inputs.size() != 2) return {};
  const Value sum = add.inputs[0], product = add.inputs[1];
  const Node& node = rewriter.old_node(product);
  const auto* const matmul = op_as<Matmul>(node);
  if (matmul == nullptr || matmul->options.bias || matmul->options.activation != Activation::none) return {};
  // The product moves to the addition: no node in between may read it, and no variable may change in between.
  if (rewriter.only_user(product) != index || rewriter.effect_between(product.node, index)) return {};
  if (node.device != add.device) return {};
  const std::array inputs{node.inputs[0], node.inputs[1], sum};
  const Graph& graph = rewriter.old_graph();
  const std::array types{graph.type(inputs[0]), graph.type(inputs[1]), graph.type(sum)};
  if (types[0].rank() != 2 || types[1].rank() != 2) return {};
  auto op = std::make_shared<const MatmulAccumulate>(matmul->options);
  if (!fuses(add.device, *op, types)) return {};
  return {product.node, inputs, std::move(op)};
}

}  // namespace

Program fuse_accumulation(Program program, const Fuses& fuses) {
  Rewriter rewriter(program);
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  std::vector<Accumulation> found(static_cast<std::size_t>(count));
  std::set<std::int32_t> absorbed;
  for (std::int32_t index = 0; index < count; ++index) {
    Accumulation& accumulation = found[static_cast<std::size_t>(index)];
    accumulation = find_accumulation(rewriter, index, fuses);
    if (accumulation.op != nullptr) absorbed.insert(accumulation.product);
  }
  for (std::int32_t index = 0; index < count; ++index) {
    if (absorbed.contains(index)) continue;
    const Accumulation& accumulation = found[static_cast<std::size_t>(index)];
    if (accumulation.op == nullptr) {
      rewriter.keep(index);
      continue;
    }
    std::vector<Value> inputs;
    for (const Value input : accumulation.inputs) inputs.push_back(rewriter.map(input));
    rewriter.replace({index, 0}, rewriter.add(accumulation.product, accumulation.op, inputs));
  }
  return rewriter.finish();
}

}  // namespace gpubench
