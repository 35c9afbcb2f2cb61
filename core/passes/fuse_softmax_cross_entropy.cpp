// Fuses softmax and the following cross-entropy into one op, forward and backward, which stays exact where the
// probability underflows: the gradient of the logits becomes probabilities - labels.
#include <array>
#include <memory>

#include "core/ops/cast.h"
#include "core/ops/loss.h"
#include "core/ops/softmax.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

template <class O>
bool is(const Node& node) {
  return op_as<O>(node) != nullptr;
}

bool same_place(const Node& a, const Node& b) {
  return a.device == b.device;
}

/// The 16-bit value that `value` casts to float32, as in the loss of a model that computes in 16 bits; none if `value`
/// is no such cast.
Value before_widening(const Rewriter& rewriter, Value value) {
  const Node& node = rewriter.old_node(value);
  if (!is<Cast>(node) || node.outputs[0].dtype != Dtype::f32) return {};
  const Value source = node.inputs[0];
  return is_floating(rewriter.old_graph().type(source).dtype) ? source : Value{};
}

Value cast_at(Rewriter& rewriter, std::int32_t index, Value value, Dtype dtype) {
  if (rewriter.graph().type(value).dtype == dtype) return value;
  return rewriter.add(index, std::make_shared<const Cast>(dtype), std::array{value});
}

/// loss(softmax(logits), labels): both the loss and the probabilities for later readers come from the fused op. If the
/// loss casts probabilities to float32, the fused op gets logits in float32.
bool fuse_loss_forward(Rewriter& rewriter, std::int32_t index) {
  const Node& loss = rewriter.old_node({index, 0});
  const bool sparse = is<SparseCategoricalCrossEntropy>(loss);
  if (!sparse && !is<CategoricalCrossEntropy>(loss)) return false;
  const Value read = loss.inputs[0], narrow = before_widening(rewriter, read);
  const Value probabilities = narrow ? narrow : read;
  const Node& softmax = rewriter.old_node(probabilities);
  if (!is<Softmax>(softmax) || !same_place(softmax, loss)) return false;
  if (rewriter.effect_between(probabilities.node, index)) return false;
  const Dtype dtype = rewriter.old_graph().type(read).dtype;
  const std::array inputs{cast_at(rewriter, index, rewriter.map(softmax.inputs[0]), dtype),
                          rewriter.map(loss.inputs[1])};
  OpPtr fused = sparse ? OpPtr(std::make_shared<const SparseSoftmaxCrossEntropy>())
                       : OpPtr(std::make_shared<const SoftmaxCrossEntropy>());
  const Value value = rewriter.add(index, std::move(fused), inputs);
  rewriter.replace({index, 0}, value);
  rewriter.replace(read, {value.node, 1});
  if (narrow) {
    const Dtype own = rewriter.old_graph().type(narrow).dtype;
    rewriter.replace(narrow, cast_at(rewriter, index, {value.node, 1}, own));
  }
  return true;
}

/// softmax_gradient(cross_entropy_gradient(dloss, p, labels), p), if no other node reads the inner gradient. In 16 bits
/// there is a cast after the inner gradient and one before its p.
bool fuse_loss_backward(Rewriter& rewriter, std::int32_t index) {
  const Node& outer = rewriter.old_node({index, 0});
  if (!is<SoftmaxGradient>(outer) || rewriter.uses(outer.inputs[0]) != 1) return false;
  const Node* inner = &rewriter.old_node(outer.inputs[0]);
  if (is<Cast>(*inner)) {
    if (rewriter.uses(inner->inputs[0]) != 1) return false;
    inner = &rewriter.old_node(inner->inputs[0]);
  }
  const bool sparse = is<SparseCategoricalCrossEntropyGradient>(*inner);
  if (!sparse && !is<CategoricalCrossEntropyGradient>(*inner)) return false;
  const Value read = inner->inputs[1], narrow = before_widening(rewriter, read);
  if ((narrow ? narrow : read) != outer.inputs[1] || !same_place(*inner, outer)) return false;
  const std::array inputs{rewriter.map(inner->inputs[0]), rewriter.map(read), rewriter.map(inner->inputs[2])};
  OpPtr fused = sparse ? OpPtr(std::make_shared<const SparseSoftmaxCrossEntropyGradient>())
                       : OpPtr(std::make_shared<const SoftmaxCrossEntropyGradient>());
  const Value logits = rewriter.add(index, std::move(fused), inputs);
  rewriter.replace({index, 0}, cast_at(rewriter, index, logits, outer.outputs[0].dtype));
  return true;
}

}  // namespace

Program fuse_softmax_cross_entropy(Program program) {
  Rewriter rewriter(program);
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    if (!fuse_loss_forward(rewriter, index) && !fuse_loss_backward(rewriter, index)) rewriter.keep(index);
  }
  return rewriter.finish();  // the softmax and the inner gradient are dead now
}

}  // namespace gpubench
