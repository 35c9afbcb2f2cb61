// Fuses a softmax cross-entropy with its gradient, the top-k metrics of the same labels, and the sums of their means,
// on devices that compute them in one kernel: small batches, whose kernels take less time than their launches.
#include <algorithm>
#include <memory>
#include <set>

#include "core/graph/leaf_ops.h"
#include "core/ops/loss.h"
#include "core/ops/measured_cross_entropy.h"
#include "core/ops/metric.h"
#include "core/ops/state.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

/// A cross-entropy and the nodes that join it, by index.
struct Measured {
  std::int32_t loss = -1, gradient = -1, last = -1;
  std::vector<std::int32_t> sums{};  ///< of the losses, then of each metric
  std::set<std::int32_t> members{};  ///< all nodes that the fused op replaces
  MeasuredAttributes options{};
  OpPtr op = nullptr;
};

class MetricFusing {
 public:
  MetricFusing(const Program& program, const Fuses& fuses)
      : rewriter_(program), nodes_(program.graph.nodes()), fuses_(fuses) {}

  Program run() {
    std::vector<Measured> found(nodes_.size());  // by the last member
    for (std::int32_t index = 0; index < count(); ++index) {
      Measured measured = find(index);
      if (measured.op == nullptr) continue;
      replaced_.insert(measured.members.begin(), measured.members.end());
      found[static_cast<std::size_t>(measured.last)] = std::move(measured);
    }
    for (std::int32_t index = 0; index < count(); ++index) {
      if (!replaced_.contains(index)) rewriter_.keep(index);
      if (const Measured& measured = found[static_cast<std::size_t>(index)]; measured.op != nullptr) fuse(measured);
    }
    return rewriter_.finish();
  }

 private:
  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }
  const TensorType& type(Value value) const { return rewriter_.old_graph().type(value); }

  Measured find(std::int32_t loss) const {
    Measured measured{.loss = loss};
    if (!op_as<SoftmaxCrossEntropy>(node(loss)) && !op_as<SparseSoftmaxCrossEntropy>(node(loss))) return {};
    measured.members.insert(loss);
    if (!add_sum(measured, loss)) return {};
    for (std::int32_t index = loss + 1; index < count(); ++index) {
      if (is_gradient(measured, index)) {
        measured.gradient = index;
        measured.options.gradient = true;
        measured.members.insert(index);
      } else if (is_metric(measured, index) && add_sum(measured, index)) {
        measured.options.ranks_logits = ranks_logits(measured, index);
        measured.options.metrics.push_back(op_as<TopKMatches>(node(index))->k);
        measured.members.insert(index);
      }
    }
    measured.last = *measured.members.rbegin();
    if (!can_move(measured)) return {};
    auto op = std::make_shared<const MeasuredCrossEntropy>(measured.options);
    std::vector<TensorType> types;
    for (const Value input : inputs_of(measured)) types.push_back(type(input));
    if (fuses_(node(loss).device, *op, types)) measured.op = std::move(op);
    return measured;
  }

  /// Adds the sum of the node's values to the figures, if no other node reads them. All sums are of one kind.
  bool add_sum(Measured& measured, std::int32_t values) const {
    const std::int32_t sum = rewriter_.only_user({values, 0});
    if (sum < 0 || node(sum).device != node(measured.loss).device || type({values, 0}).dtype != Dtype::f32)
      return false;
    const bool adds = op_as<AccumulateMean>(node(sum)) != nullptr;
    if (!adds && !op_as<SumAndCount>(node(sum))) return false;
    if (adds) {
      const Value state = node(sum).inputs[0];
      const auto has_state = [&](std::int32_t other) { return node(other).inputs[0] == state; };
      if (!op_as<VariableOp>(rewriter_.old_node(state)) || std::ranges::any_of(measured.sums, has_state)) return false;
    }
    if (!measured.sums.empty() && adds != measured.options.adds) return false;
    measured.options.adds = adds;
    measured.sums.push_back(sum);
    measured.members.insert(sum);
    return true;
  }

  bool is_gradient(const Measured& measured, std::int32_t index) const {
    const Node &loss = node(measured.loss), &other = node(index);
    if (!op_as<SoftmaxCrossEntropyGradient>(other) && !op_as<SparseSoftmaxCrossEntropyGradient>(other)) return false;
    return !measured.options.gradient && other.device == loss.device && other.inputs[1] == Value{measured.loss, 1} &&
           other.inputs[2] == loss.inputs[1];
  }

  /// Whether the node ranks what the metrics so far rank, for the same labels.
  bool is_metric(const Measured& measured, std::int32_t index) const {
    const Node &loss = node(measured.loss), &other = node(index);
    if (!op_as<TopKMatches>(other) || other.device != loss.device || replaced_.contains(index)) return false;
    const bool logits = ranks_logits(measured, index);
    if (!logits && other.inputs[0] != Value{measured.loss, 1}) return false;
    if (!measured.options.metrics.empty() && logits != measured.options.ranks_logits) return false;
    return without_views(other.inputs[1]) == without_views(loss.inputs[1]);
  }
  bool ranks_logits(const Measured& measured, std::int32_t index) const {
    return node(index).inputs[0] == node(measured.loss).inputs[0];
  }

  /// The value whose memory `value` is, as of class indices [batch, 1] that are read as [batch].
  Value without_views(Value value) const {
    while (rewriter_.old_node(value).op->is_view()) value = rewriter_.old_node(value).inputs[0];
    return value;
  }

  /// Members move to the last one: no other node in between may read or change what they write, or change what they
  /// read.
  bool can_move(const Measured& measured) const {
    std::set<std::int32_t> written = measured.members;
    for (const std::int32_t sum : measured.sums) {
      if (measured.options.adds) written.insert(node(sum).inputs[0].node);
    }
    for (std::int32_t index = measured.loss; index < measured.last; ++index) {
      if (measured.members.contains(index)) continue;
      const auto is_written = [&](Value input) { return written.contains(input.node); };
      if (node(index).op->has_effect() || std::ranges::any_of(node(index).inputs, is_written)) return false;
    }
    return true;
  }

  std::vector<Value> inputs_of(const Measured& measured) const {
    std::vector<Value> inputs = node(measured.loss).inputs;
    if (measured.options.gradient) inputs.push_back(node(measured.gradient).inputs[0]);
    for (const std::int32_t sum : measured.sums) {
      if (measured.options.adds) inputs.push_back(node(sum).inputs[0]);
    }
    return inputs;
  }

  void fuse(const Measured& measured) {
    std::vector<Value> inputs;
    for (const Value input : inputs_of(measured)) inputs.push_back(rewriter_.map(input));
    const Value fused = rewriter_.add(measured.loss, measured.op, inputs);
    rewriter_.replace({measured.loss, 1}, fused);
    if (measured.options.gradient) rewriter_.replace({measured.gradient, 0}, {fused.node, 1});
    auto output = static_cast<std::int32_t>(op_as<MeasuredCrossEntropy>(rewriter_.graph().node(fused))->first_figure());
    for (const std::int32_t sum : measured.sums) rewriter_.replace({sum, 0}, {fused.node, output++});
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  const Fuses& fuses_;
  std::set<std::int32_t> replaced_;
};

}  // namespace

Program fuse_metrics(Program program, const Fuses& fuses) {
  return MetricFusing(program, fuses).run();
}

}  // namespace gpubench
