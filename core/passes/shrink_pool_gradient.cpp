// The gradient of a max pool writes each number to the winning element and zeros to the others. A following
// element-wise op (an activation's gradient) or sum (the bias gradient) gives the same result before the pool gradient,
// where the tensor is smaller by the number of elements in a window.
#include <array>
#include <map>
#include <memory>

#include "core/ops/bias.h"
#include "core/ops/elementwise.h"
#include "core/ops/pool.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// Gradients that need only the activation's result: at the winner, that is the pool's result.
bool is_activation_gradient(const Node& node) {
  return op_as<ReluGradient>(node) || op_as<SigmoidGradient>(node) || op_as<TanhGradient>(node);
}

class Shrinking {
 public:
  explicit Shrinking(const Program& program) : rewriter_(program) {}

  Program run(std::int32_t count) {
    for (std::int32_t index = 0; index < count; ++index) {
      if (!move_activation(index) && !move_bias(index)) rewriter_.keep(index);
    }
    return rewriter_.finish();
  }

 private:
  /// activation_gradient(max_pool_gradient(dp, winners), y) with (p, winners) = max_pool(y)
  /// becomes max_pool_gradient(activation_gradient(dp, p), winners).
  bool move_activation(std::int32_t index) {
    const Node& outer = rewriter_.old_node({index, 0});
    if (!is_activation_gradient(outer) || rewriter_.uses(outer.inputs[0]) != 1) return false;
    const Node& spread = rewriter_.old_node(outer.inputs[0]);
    if (!op_as<MaxPool2DGradient>(spread) || spread.device != outer.device) return false;
    const Value winners = spread.inputs[1];
    const Node& pool = rewriter_.old_node(winners);
    if (!op_as<MaxPool2D>(pool) || pool.inputs[0] != outer.inputs[1]) return false;
    const std::array small{rewriter_.map(spread.inputs[0]), rewriter_.map({winners.node, 0})};
    const Value derivative = rewriter_.add(index, outer.op, small);
    const std::array spread_inputs{derivative, rewriter_.map(winners)};
    rewriter_.replace({index, 0}, rewriter_.add(outer.inputs[0].node, spread.op, spread_inputs));
    before_spreading_[index] = derivative;
    return true;
  }

  /// The sum over the pool gradient equals the sum over its input.
  bool move_bias(std::int32_t index) {
    const Node& sum = rewriter_.old_node({index, 0});
    if (!op_as<BiasGradient>(sum)) return false;
    const Node& spread = rewriter_.old_node(sum.inputs[0]);
    const auto moved = before_spreading_.find(sum.inputs[0].node);
    if (moved == before_spreading_.end() && !op_as<MaxPool2DGradient>(spread)) return false;
    const Value small = moved != before_spreading_.end() ? moved->second : rewriter_.map(spread.inputs[0]);
    rewriter_.replace({index, 0}, rewriter_.add(index, sum.op, std::array{small}));
    return true;
  }

  Rewriter rewriter_;
  std::map<std::int32_t, Value> before_spreading_;  // by the old activation gradient
};

}  // namespace

Program shrink_pool_gradient(Program program) {
  const auto count = static_cast<std::int32_t>(program.graph.nodes().size());
  return Shrinking(program).run(count);  // the old pool gradient is dead now
}

}  // namespace gpubench
