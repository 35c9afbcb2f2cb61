// Fuses a max pool into the preceding convolution, and its gradient into the filter gradient, if no other node reads
// the tensor in between: that tensor, often a model's largest, then never reaches memory.
#include <array>
#include <memory>
#include <vector>

#include "core/ops/conv.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// The node that computes `value`, if only `reader` reads it, on the same device, with no variable changed in between.
const Node* private_source(const Rewriter& rewriter, std::int32_t reader, Value value) {
  const Node& source = rewriter.old_node(value);
  const bool fusable = rewriter.uses(value) == 1 && source.device == rewriter.old_node({reader, 0}).device &&
                       !rewriter.effect_between(value.node, reader);
  return fusable ? &source : nullptr;
}

std::vector<Value> mapped(const Rewriter& rewriter, const std::vector<Value>& values) {
  std::vector<Value> result;
  for (const Value value : values) result.push_back(rewriter.map(value));
  return result;
}

/// max_pool2d(conv2d(x, filter[, bias]))
bool fuse_forward(Rewriter& rewriter, std::int32_t index) {
  const Node& node = rewriter.old_node({index, 0});
  const auto* const pool = op_as<MaxPool2D>(node);
  if (pool == nullptr) return false;
  const Node* const source = private_source(rewriter, index, node.inputs[0]);
  const auto* const conv = source != nullptr ? op_as<Conv2D>(*source) : nullptr;
  if (conv == nullptr || ops::needs_argument(conv->options.activation)) return false;
  const Value fused =
      rewriter.add(node.inputs[0].node, std::make_shared<const Conv2DMaxPool>(conv->options, pool->options),
                   mapped(rewriter, source->inputs));
  rewriter.replace({index, 0}, fused);
  rewriter.replace({index, 1}, {fused.node, 1});
  return true;
}

/// conv2d_filter_gradient(x, max_pool2d_gradient(dy, winners))
bool fuse_backward(Rewriter& rewriter, std::int32_t index) {
  const Node& node = rewriter.old_node({index, 0});
  const auto* const conv = op_as<Conv2DFilterGradient>(node);
  if (conv == nullptr) return false;
  const Node* const source = private_source(rewriter, index, node.inputs[1]);
  const auto* const pool = source != nullptr ? op_as<MaxPool2DGradient>(*source) : nullptr;
  if (pool == nullptr) return false;
  const std::array inputs{rewriter.map(node.inputs[0]), rewriter.map(source->inputs[0]),
                          rewriter.map(source->inputs[1])};
  rewriter.replace({index, 0}, rewriter.add(index,
                                            std::make_shared<const Conv2DMaxPoolFilterGradient>(
                                                conv->options, pool->options, conv->filter_shape),
                                            inputs));
  return true;
}

}  // namespace

Program fuse_conv_pool(Program program) {
  Rewriter rewriter(program);
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    if (!fuse_forward(rewriter, index) && !fuse_backward(rewriter, index)) rewriter.keep(index);
  }
  return remove_dead_code(rewriter.finish());  // removes the fused nodes, which no node reads any more
}

}  // namespace gpubench
