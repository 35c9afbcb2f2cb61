// Fuses relu, and the addition of a residual block's shortcut before it, into the batch normalization of a training
// step and into its gradient: what lies between them is neither written nor read again.
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "core/ops/batch_norm.h"
#include "core/ops/elementwise.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// batch_norm -> [add] -> relu, each read only by the next one.
struct Chain {
  std::int32_t norm = -1, add = -1, relu = -1;
  Value shortcut{};
};

/// relu_gradient -> batch_norm_gradient of a chain.
struct Backward {
  std::int32_t relu_gradient = -1, norm_gradient = -1;
  Value last_input{};  ///< beta, or relu's result
  NormEpilogue epilogue = NormEpilogue::none;
};

class BatchNormFusing {
 public:
  BatchNormFusing(const Program& program, const Fuses& fuses)
      : rewriter_(program), nodes_(program.graph.nodes()), fuses_(fuses) {}

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) {
      if (const std::optional<Chain> chain = chain_of(index)) find(*chain);
    }
    for (std::int32_t index = 0; index < count(); ++index) {
      if (const auto chain = chains_.find(index); chain != chains_.end()) {
        fuse_forward(chain->second);
      } else if (const auto backward = backwards_.find(index); backward != backwards_.end()) {
        fuse_backward(backward->second);
      } else if (!absorbed_.contains(index)) {
        rewriter_.keep(index);
      }
    }
    return rewriter_.finish();
  }

 private:
  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }
  const TensorType& type(Value value) const { return rewriter_.old_graph().type(value); }

  /// The only reader of node `index`'s first output, if it has the op O and the same device.
  template <class O>
  std::int32_t next(std::int32_t index) const {
    const std::int32_t user = rewriter_.only_user({index, 0});
    return user >= 0 && op_as<O>(node(user)) && node(user).device == node(index).device ? user : -1;
  }

  std::optional<Chain> chain_of(std::int32_t index) const {
    const auto* const norm = op_as<BatchNorm>(node(index));
    if (norm == nullptr || norm->epilogue != NormEpilogue::none) return std::nullopt;
    Chain chain{.norm = index, .relu = next<Relu>(index)};
    if (chain.relu >= 0) return chain;
    chain.add = next<Add>(index);
    if (chain.add < 0) return std::nullopt;
    const std::vector<Value>& terms = node(chain.add).inputs;
    chain.shortcut = terms[terms[0] == Value{index, 0} ? 1 : 0];
    chain.relu = next<Relu>(chain.add);
    // What is fused stands where the normalization is.
    const bool is_known = chain.shortcut.node < index && type(chain.shortcut) == type({index, 0}) &&
                          !rewriter_.changes_between(chain.shortcut, index, chain.add);
    return chain.relu >= 0 && is_known ? std::optional(chain) : std::nullopt;
  }

  static NormEpilogue epilogue_of(const Chain& chain) {
    return chain.add < 0 ? NormEpilogue::relu : NormEpilogue::add_relu;
  }

  std::vector<Value> forward_inputs(const Chain& chain) const {
    std::vector<Value> inputs = node(chain.norm).inputs;
    if (chain.add >= 0) inputs.push_back(chain.shortcut);
    return inputs;
  }

  std::vector<Value> backward_inputs(const Backward& backward) const {
    std::vector<Value> inputs = node(backward.norm_gradient).inputs;
    inputs.back() = node(backward.relu_gradient).inputs[0];
    inputs.push_back(backward.last_input);
    return inputs;
  }

  bool can_fuse(std::int32_t index, const Op& op, const std::vector<Value>& inputs) const {
    std::vector<TensorType> types;
    for (const Value input : inputs) types.push_back(type(input));
    return fuses_(node(index).device, op, types);
  }

  void find(const Chain& chain) {
    const BatchNorm op(op_as<BatchNorm>(node(chain.norm))->epsilon, epilogue_of(chain));
    if (!can_fuse(chain.norm, op, forward_inputs(chain))) return;
    chains_[chain.norm] = chain;
    absorbed_.insert(chain.relu);
    if (chain.add >= 0) absorbed_.insert(chain.add);
    const std::optional<Backward> backward = backward_of(chain);
    if (!backward) return;
    const BatchNormGradient gradient(op.epsilon, op.epilogue);
    if (!can_fuse(backward->norm_gradient, gradient, backward_inputs(*backward))) return;
    backwards_[backward->relu_gradient] = *backward;
    absorbed_.insert(backward->norm_gradient);
  }

  /// The gradients of relu and of the normalization. Without an add nothing else may read relu's.
  std::optional<Backward> backward_of(const Chain& chain) const {
    for (std::int32_t index = chain.relu + 1; index < count(); ++index) {
      if (!op_as<ReluGradient>(node(index)) || node(index).inputs[1] != Value{chain.relu, 0}) continue;
      const std::int32_t gradient = norm_gradient_of(chain, index);
      if (gradient < 0 || (chain.add < 0 && rewriter_.only_user({index, 0}) != gradient)) continue;
      if (chain.add >= 0) return Backward{index, gradient, {chain.relu, 0}, NormEpilogue::add_relu};
      const Value beta = node(chain.norm).inputs[2];
      // From statistics that were rounded to 16 bits relu's sign may come out otherwise than it was.
      if (type(beta).dtype != Dtype::f32 || rewriter_.changes_between(beta, chain.norm, gradient)) continue;
      return Backward{index, gradient, beta, NormEpilogue::relu};
    }
    return std::nullopt;
  }

  /// The gradient of the chain's normalization by what the relu gradient at `index` gives. What is fused stands there.
  std::int32_t norm_gradient_of(const Chain& chain, std::int32_t index) const {
    for (std::int32_t later = index + 1; later < count(); ++later) {
      const auto* const op = op_as<BatchNormGradient>(node(later));
      if (op == nullptr || op->epilogue != NormEpilogue::none || node(later).device != node(index).device) continue;
      const std::vector<Value>& inputs = node(later).inputs;
      if (inputs[4] != Value{index, 0} || inputs[2] != Value{chain.norm, 1} || inputs[1].node > index) continue;
      return rewriter_.changes_between(inputs[1], index, later) ? -1 : later;
    }
    return -1;
  }

  std::vector<Value> mapped(std::vector<Value> inputs) const {
    for (Value& input : inputs) input = rewriter_.map(input);
    return inputs;
  }

  void fuse_forward(const Chain& chain) {
    const float epsilon = op_as<BatchNorm>(node(chain.norm))->epsilon;
    const Value y = rewriter_.add(chain.norm, std::make_shared<const BatchNorm>(epsilon, epilogue_of(chain)),
                                  mapped(forward_inputs(chain)));
    rewriter_.replace({chain.relu, 0}, y);
    for (const std::int32_t statistic : {1, 2}) rewriter_.replace({chain.norm, statistic}, {y.node, statistic});
  }

  void fuse_backward(const Backward& backward) {
    const float epsilon = op_as<BatchNormGradient>(node(backward.norm_gradient))->epsilon;
    const auto op = std::make_shared<const BatchNormGradient>(epsilon, backward.epilogue);
    const Value dx = rewriter_.add(backward.norm_gradient, op, mapped(backward_inputs(backward)));
    for (const std::int32_t output : {0, 1, 2}) rewriter_.replace({backward.norm_gradient, output}, {dx.node, output});
    if (backward.epilogue == NormEpilogue::add_relu) rewriter_.replace({backward.relu_gradient, 0}, {dx.node, 3});
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  const Fuses& fuses_;
  std::map<std::int32_t, Chain> chains_;        // by their normalization
  std::map<std::int32_t, Backward> backwards_;  // by their relu gradient
  std::set<std::int32_t> absorbed_;
};

}  // namespace

Program fuse_batch_norm(Program program, const Fuses& fuses) {
  return BatchNormFusing(program, fuses).run();
}

}  // namespace gpubench
