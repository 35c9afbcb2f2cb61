// Lets int8 products return int8 if the next layer quantizes their result: the tensor between two such layers is a
// quarter of the size, and is written once.
//
// quantized matmul or convolution -> [reshape ...] -> quantize by one scale, each read only by the next one.
#include <map>
#include <memory>
#include <set>
#include <vector>

#include "core/ops/quantize.h"
#include "core/ops/quantized_linear.h"
#include "core/ops/shape_ops.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

template <class O>
OpPtr requantizing(const Node& node) {
  const O* op = op_as<O>(node);
  if (op == nullptr || op->options.requantize) return nullptr;
  auto options = op->options;
  options.requantize = true;
  return std::make_shared<const O>(std::move(options));
}

/// From the product to the last node before the quantization.
struct QuantizedChain {
  std::vector<std::int32_t> nodes;
  OpPtr product;
};

QuantizedChain find_quantized_chain(const Rewriter& rewriter, std::int32_t quantize) {
  const Node& last = rewriter.old_node({quantize, 0});
  if (!rewriter.old_graph().type(last.inputs[1]).shape.empty()) return {};
  QuantizedChain chain;
  for (std::int32_t next = quantize;;) {
    const std::int32_t index = rewriter.old_node({next, 0}).inputs[0].node;
    const Node& node = rewriter.old_node({index, 0});
    if (rewriter.only_user({index, 0}) != next || node.device != last.device) return {};
    chain.nodes.insert(chain.nodes.begin(), index);
    next = index;
    if (op_as<Reshape>(node)) continue;
    chain.product = requantizing<QuantizedMatmul>(node);
    if (chain.product == nullptr) chain.product = requantizing<QuantizedConv2D>(node);
    return chain.product == nullptr || rewriter.effect_between(index, quantize) ? QuantizedChain{} : chain;
  }
}

}  // namespace

Program fuse_quantize(Program program) {
  Rewriter rewriter(program);
  std::map<std::int32_t, QuantizedChain> ends;
  std::set<std::int32_t> absorbed;
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    if (!op_as<Quantize>(rewriter.old_node({index, 0}))) continue;
    QuantizedChain chain = find_quantized_chain(rewriter, index);
    if (chain.nodes.empty()) continue;
    absorbed.insert(chain.nodes.begin(), chain.nodes.end());
    ends[index] = std::move(chain);
  }
  for (std::int32_t index = 0; index < count; ++index) {
    if (absorbed.contains(index)) continue;
    const auto end = ends.find(index);
    if (end == ends.end()) {
      rewriter.keep(index);
      continue;
    }
    const QuantizedChain& chain = end->second;
    std::vector<Value> inputs;
    for (const Value input : rewriter.old_node({chain.nodes[0], 0}).inputs) inputs.push_back(rewriter.map(input));
    inputs.push_back(rewriter.map(rewriter.old_node({index, 0}).inputs[1]));
    Value y = rewriter.add(chain.nodes[0], chain.product, inputs);
    for (std::size_t i = 1; i < chain.nodes.size(); ++i) {
      y = rewriter.add(chain.nodes[i], rewriter.old_node({chain.nodes[i], 0}).op, std::vector{y});
    }
    rewriter.replace({index, 0}, y);
  }
  return rewriter.finish();
}

}  // namespace gpubench
