// Fuses the sum of a bias gradient into the product of the weight gradient, on devices that can sum a factor while
// multiplying it.
#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>

#include "core/ops/bias.h"
#include "core/ops/fused_matmul.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// The factor of a plain product whose rows are summed over, if it is `dy`.
std::optional<Factor> summed_factor(const Node& node, Value dy) {
  const auto* const matmul = op_as<Matmul>(node);
  if (matmul == nullptr || matmul->options.bias || matmul->options.activation != Activation::none) return std::nullopt;
  if (node.inputs[1] == dy && !matmul->options.transpose_b) return Factor::second;
  if (node.inputs[0] == dy && matmul->options.transpose_a) return Factor::first;
  return std::nullopt;
}

class BiasGradientFusing {
 public:
  BiasGradientFusing(const Program& program, const Fuses& fuses)
      : rewriter_(program), nodes_(program.graph.nodes()), fuses_(fuses), first_reader_(nodes_.size(), count()) {
    for (std::int32_t index = count() - 1; index >= 0; --index) {
      for (const Value input : node(index).inputs) first_reader_[static_cast<std::size_t>(input.node)] = index;
    }
  }

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) {
      if (op_as<BiasGradient>(node(index))) find_product(index);
    }
    for (std::int32_t index = 0; index < count(); ++index) {
      if (const auto pair = pairs_.find(index); pair != pairs_.end()) {
        fuse(pair->second);
      } else if (!absorbed_.contains(index)) {
        rewriter_.keep(index);
      }
    }
    return rewriter_.finish();
  }

 private:
  struct Pair {
    std::int32_t product = -1, sum = -1;
    OpPtr op;
  };

  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }

  void find_product(std::int32_t sum) {
    for (std::int32_t product = 0; product < count(); ++product) {
      const auto factor = summed_factor(node(product), node(sum).inputs[0]);
      if (!factor || taken_.contains(product) || !can_move(sum, product)) continue;
      const auto& options = op_as<Matmul>(node(product))->options;
      auto op = std::make_shared<const MatmulBiasGradient>(options, *factor);
      const std::array inputs{rewriter_.old_graph().type(node(product).inputs[0]),
                              rewriter_.old_graph().type(node(product).inputs[1])};
      if (inputs[0].rank() != 2 || inputs[1].rank() != 2 || !fuses_(node(sum).device, *op, inputs)) continue;
      pairs_[std::max(sum, product)] = {product, sum, std::move(op)};
      absorbed_.insert(std::min(sum, product));
      taken_.insert(product);
      return;
    }
  }

  /// Both move to the later one: no node in between may read the earlier one, and no variable may change in between.
  bool can_move(std::int32_t one, std::int32_t other) const {
    const auto [earlier, later] = std::minmax(one, other);
    return node(one).device == node(other).device && !rewriter_.effect_between(earlier, later) &&
           first_reader_[static_cast<std::size_t>(earlier)] > later;
  }

  void fuse(const Pair& pair) {
    const std::array inputs{rewriter_.map(node(pair.product).inputs[0]), rewriter_.map(node(pair.product).inputs[1])};
    const Value product = rewriter_.add(pair.product, pair.op, inputs);
    rewriter_.replace({pair.product, 0}, product);
    rewriter_.replace({pair.sum, 0}, {product.node, 1});
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  const Fuses& fuses_;
  std::vector<std::int32_t> first_reader_;
  std::map<std::int32_t, Pair> pairs_;  // by the later node of the pair
  std::set<std::int32_t> absorbed_, taken_;
};

}  // namespace

Program fuse_bias_gradient(Program program, const Fuses& fuses) {
  return BiasGradientFusing(program, fuses).run();
}

}  // namespace gpubench
