// Fuses bias and activation into the preceding matmul or convolution, which applies them to its result in registers.
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/ops/bias.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/ops/quantized_linear.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

std::optional<Activation> activation_of(const Node& node) {
  if (op_as<Relu>(node)) return Activation::relu;
  if (op_as<Sigmoid>(node)) return Activation::sigmoid;
  if (op_as<Tanh>(node)) return Activation::tanh;
  if (op_as<Gelu>(node)) return Activation::gelu;
  if (op_as<GeluTanh>(node)) return Activation::gelu_tanh;
  return std::nullopt;
}

template <class O>
OpPtr with_epilogue(const Node& node, bool bias, Activation activation) {
  const O* op = op_as<O>(node);
  if (op == nullptr || op->options.bias || op->options.activation != Activation::none) return nullptr;
  auto options = op->options;
  options.bias = bias;
  options.activation = activation;
  return std::make_shared<const O>(options);
}

bool can_have_epilogue(const Node& node) {
  return op_as<Matmul>(node) || op_as<Conv2D>(node) || op_as<QuantizedMatmul>(node) || op_as<QuantizedConv2D>(node);
}

OpPtr with_epilogue(const Node& node, bool bias, Activation activation) {
  OpPtr fused = with_epilogue<Matmul>(node, bias, activation);
  if (fused == nullptr) fused = with_epilogue<Conv2D>(node, bias, activation);
  if (fused == nullptr) fused = with_epilogue<QuantizedMatmul>(node, bias, activation);
  return fused == nullptr ? with_epilogue<QuantizedConv2D>(node, bias, activation) : fused;
}

/// matmul or convolution -> [bias_add] -> [activation], each read only by the next one.
struct EpilogueChain {
  std::int32_t linear = -1;
  std::int32_t bias_add = -1;
  std::int32_t last = -1;
  Activation activation = Activation::none;
};

/// The only node that reads `index`, if it is on the same device and no variable changes before it.
std::int32_t next_in_chain(const Rewriter& rewriter, std::int32_t first, std::int32_t index) {
  const std::int32_t user = rewriter.only_user({index, 0});
  if (user < 0 || rewriter.effect_between(first, user)) return -1;
  const Node& node = rewriter.old_node({user, 0});
  const bool reads_first = node.inputs[0] == Value{index, 0};
  return reads_first && node.device == rewriter.old_node({index, 0}).device ? user : -1;
}

EpilogueChain find_epilogue(const Rewriter& rewriter, std::int32_t linear) {
  EpilogueChain chain{linear, -1, linear, Activation::none};
  std::int32_t next = next_in_chain(rewriter, linear, linear);
  if (next >= 0 && op_as<BiasAdd>(rewriter.old_node({next, 0}))) {
    chain.bias_add = chain.last = next;
    next = next_in_chain(rewriter, linear, next);
  }
  if (next < 0) return chain;
  if (const auto activation = activation_of(rewriter.old_node({next, 0}))) {
    chain.activation = *activation;
    chain.last = next;
  }
  return chain;
}

}  // namespace

Program fuse_epilogue(Program program) {
  Rewriter rewriter(program);
  std::map<std::int32_t, std::pair<EpilogueChain, OpPtr>> ends;
  std::set<std::int32_t> absorbed;
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  for (std::int32_t index = 0; index < count; ++index) {
    const Node& node = rewriter.old_node({index, 0});
    if (!can_have_epilogue(node)) continue;
    const EpilogueChain chain = find_epilogue(rewriter, index);
    if (chain.last == index) continue;
    OpPtr fused = with_epilogue(node, chain.bias_add >= 0, chain.activation);
    if (fused == nullptr) continue;
    absorbed.insert(index);
    if (chain.bias_add >= 0 && chain.bias_add != chain.last) absorbed.insert(chain.bias_add);
    ends[chain.last] = {chain, std::move(fused)};
  }

  for (std::int32_t index = 0; index < count; ++index) {
    if (absorbed.contains(index)) continue;
    const auto end = ends.find(index);
    if (end == ends.end()) {
      rewriter.keep(index);
      continue;
    }
    const auto& [chain, fused] = end->second;
    std::vector<Value> inputs;
    for (const Value input : rewriter.old_node({chain.linear, 0}).inputs) inputs.push_back(rewriter.map(input));
    if (chain.bias_add >= 0) inputs.push_back(rewriter.map(rewriter.old_node({chain.bias_add, 0}).inputs[1]));
    rewriter.replace({index, 0}, rewriter.add(chain.linear, fused, inputs));
  }
  return rewriter.finish();
}

}  // namespace gpubench
