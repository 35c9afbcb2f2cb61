// Folds a batch normalization with given statistics into the weights of the preceding matmul or convolution. The folded
// weights are nodes that depend only on variables, so an executor recomputes them only when the variables change; for
// that reason nothing is folded if the graph itself updates those variables.
//
// With s = gamma / sqrt(variance + epsilon), per output channel: kernel s, and (bias - mean) s + beta, computed in
// float32 and rounded to the type of the product once. Only for float32 and bfloat16: a folded bias may be far larger
// than its terms, outside the range of float16.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "core/graph/invariant.h"
#include "core/ops/batch_norm.h"
#include "core/ops/bias.h"
#include "core/ops/broadcast.h"
#include "core/ops/cast.h"
#include "core/ops/conv.h"
#include "core/ops/elementwise.h"
#include "core/ops/matmul.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// Whether the node is a product whose second input has the output channels last, without an epilogue.
bool is_plain_linear(const Node& node) {
  const auto is_plain = [](const auto& options) { return !options.bias && options.activation == Activation::none; };
  if (const auto* conv = op_as<Conv2D>(node)) return is_plain(conv->options);
  const auto* matmul = op_as<Matmul>(node);
  return matmul != nullptr && is_plain(matmul->options) && !matmul->options.transpose_b;
}

class Folding {
 public:
  explicit Folding(const Program& program)
      : rewriter_(program), nodes_(program.graph.nodes()), invariant_(invariant_nodes(program.graph)) {}

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) find_chain(index);
    for (std::int32_t index = 0; index < count(); ++index) {
      if (const auto chain = chains_.find(index); chain != chains_.end()) {
        fold(index, chain->second);
      } else if (!absorbed_.contains(index)) {
        rewriter_.keep(index);
      }
    }
    return rewriter_.finish();
  }

 private:
  /// The nodes before a batch normalization.
  struct Chain {
    std::int32_t linear = -1, bias_add = -1;
  };

  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }
  bool is_invariant(Value value) const { return invariant_[static_cast<std::size_t>(value.node)]; }

  void find_chain(std::int32_t norm) {
    if (!op_as<BatchNormInference>(node(norm))) return;
    const auto& inputs = node(norm).inputs;
    if (!std::all_of(inputs.begin() + 1, inputs.end(), [&](Value input) { return is_invariant(input); })) return;
    Chain chain;
    std::int32_t before = inputs[0].node;
    if (op_as<BiasAdd>(node(before))) {
      if (!is_invariant(node(before).inputs[1]) || rewriter_.only_user({before, 0}) != norm) return;
      chain.bias_add = before;
      before = node(before).inputs[0].node;
    }
    if (!is_plain_linear(node(before)) || !is_invariant(node(before).inputs[1])) return;
    const Dtype dtype = rewriter_.old_graph().type({before, 0}).dtype;
    if (dtype != Dtype::f32 && dtype != Dtype::bf16) return;
    const std::int32_t next = chain.bias_add >= 0 ? chain.bias_add : norm;
    if (rewriter_.only_user({before, 0}) != next || rewriter_.effect_between(before, norm)) return;
    if (node(before).device != node(norm).device) return;
    chain.linear = before;
    absorbed_.insert(before);
    if (chain.bias_add >= 0) absorbed_.insert(chain.bias_add);
    chains_[norm] = chain;
  }

  void fold(std::int32_t norm, const Chain& chain) {
    Graph& graph = rewriter_.graph();
    const Node& linear = node(chain.linear);
    const GraphScope scope(graph, Origin{node(norm).device, linear.label + "/folded", linear.owner, linear.role});
    const auto exact = [&](Value old) { return ops::cast(graph, rewriter_.map(unrounded(old)), Dtype::f32); };
    const auto& norms = node(norm).inputs;
    const Value gamma = exact(norms[1]), beta = exact(norms[2]), mean = exact(norms[3]), variance = exact(norms[4]);
    const float epsilon = op_as<BatchNormInference>(node(norm))->epsilon;
    const Value spread = ops::add(graph, variance, ops::scalar(graph, epsilon, Dtype::f32));
    const Value scale = ops::mul(graph, gamma, ops::rsqrt(graph, spread));
    const Value kernel = ops::mul(graph, exact(linear.inputs[1]), scale);
    Value shift = ops::neg(graph, mean);
    if (chain.bias_add >= 0) shift = ops::sub(graph, exact(node(chain.bias_add).inputs[1]), mean);
    const Value bias = ops::add(graph, ops::mul(graph, shift, scale), beta);
    const Dtype dtype = linear.outputs[0].dtype;
    const std::array inputs{rewriter_.map(linear.inputs[0]), ops::cast(graph, kernel, dtype)};
    const Value y = rewriter_.add(chain.linear, linear.op, inputs);
    rewriter_.replace({norm, 0}, ops::bias_add(graph, y, ops::cast(graph, bias, dtype)));
  }

  /// What a float32 value was before it was cast to a narrower type.
  Value unrounded(Value value) const {
    const Node& source = node(value.node);
    return op_as<Cast>(source) && rewriter_.old_graph().type(source.inputs[0]).dtype == Dtype::f32 ? source.inputs[0]
                                                                                                   : value;
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  std::vector<bool> invariant_;
  std::map<std::int32_t, Chain> chains_;  // by batch normalization
  std::set<std::int32_t> absorbed_;
};

}  // namespace

Program fold_batch_norm(Program program) {
  return Folding(program).run();
}

}  // namespace gpubench
