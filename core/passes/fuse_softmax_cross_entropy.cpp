#include "core/passes/fuse_softmax_cross_entropy.h"

#include <array>
#include <memory>

#include "core/ops/loss.h"
#include "core/ops/softmax.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

template <class O>
bool is(const Node& node) {
  return dynamic_cast<const O*>(node.op.get()) != nullptr;
}

bool same_place(const Node& a, const Node& b) {
  return a.device == b.device;
}

/// loss(softmax(logits), labels): the loss comes from the fused op, and so do the probabilities for all later readers.
bool fuse_forward(Rewriter& rewriter, std::int32_t index) {
  const Node& loss = rewriter.old_node({index, 0});
  const bool sparse = is<SparseCategoricalCrossEntropy>(loss);
  if (!sparse && !is<CategoricalCrossEntropy>(loss)) return false;
  const Value probabilities = loss.inputs[0];
  const Node& softmax = rewriter.old_node(probabilities);
  if (!is<Softmax>(softmax) || !same_place(softmax, loss)) return false;
  if (rewriter.effect_between(probabilities.node, index)) return false;
  const std::array inputs{rewriter.map(softmax.inputs[0]), rewriter.map(loss.inputs[1])};
  OpPtr fused = sparse ? OpPtr(std::make_shared<const SparseSoftmaxCrossEntropy>())
                       : OpPtr(std::make_shared<const SoftmaxCrossEntropy>());
  const Value value = rewriter.add(index, std::move(fused), inputs);
  rewriter.replace({index, 0}, value);
  rewriter.replace(probabilities, {value.node, 1});
  return true;
}

/// softmax_gradient(cross_entropy_gradient(dloss, p, labels), p), where nobody else reads the inner gradient.
bool fuse_backward(Rewriter& rewriter, std::int32_t index) {
  const Node& outer = rewriter.old_node({index, 0});
  if (!is<SoftmaxGradient>(outer)) return false;
  const Node& inner = rewriter.old_node(outer.inputs[0]);
  const bool sparse = is<SparseCategoricalCrossEntropyGradient>(inner);
  if (!sparse && !is<CategoricalCrossEntropyGradient>(inner)) return false;
  if (inner.inputs[1] != outer.inputs[1] || !same_place(inner, outer)) return false;
  if (rewriter.uses(outer.inputs[0]) != 1) return false;
  const std::array inputs{rewriter.map(inner.inputs[0]), rewriter.map(inner.inputs[1]), rewriter.map(inner.inputs[2])};
  OpPtr fused = sparse ? OpPtr(std::make_shared<const SparseSoftmaxCrossEntropyGradient>())
                       : OpPtr(std::make_shared<const SoftmaxCrossEntropyGradient>());
  rewriter.replace({index, 0}, rewriter.add(index, std::move(fused), inputs));
  return true;
}

}  // namespace

Program fuse_softmax_cross_entropy(Program program) {
  Rewriter rewriter(program);
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    if (!fuse_forward(rewriter, index) && !fuse_backward(rewriter, index)) rewriter.keep(index);
  }
  return rewriter.finish();  // the softmax and the inner gradient are dead now
}

}  // namespace gpubench
