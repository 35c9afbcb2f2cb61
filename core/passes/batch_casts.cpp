// Casts all weights of a mixed-precision step in one op at the place of the first cast, on devices that compute it in
// one kernel: a kernel for each weight would take longer to launch than to run. Weights that no node updates are cast
// once and kept (core/graph/invariant.h), each by itself.
#include <algorithm>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "core/graph/invariant.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/cast.h"
#include "core/passes/pass.h"
#include "core/passes/rewriter.h"

namespace gpubench {
namespace {

class CastBatching {
 public:
  CastBatching(const Program& program, const Fuses& fuses)
      : rewriter_(program), nodes_(program.graph.nodes()), done_(nodes_.size(), false) {
    const std::vector<bool> invariant = invariant_nodes(program.graph);
    for (std::int32_t index = 0; index < count(); ++index) {
      if (invariant[static_cast<std::size_t>(index)] || !casts_weight(index)) continue;
      std::vector<std::int32_t>& casts = batches_[{node(index).device, node(index).outputs[0].dtype}];
      if (casts.empty() || !rewriter_.changes_between(node(index).inputs[0], casts[0], index)) casts.push_back(index);
    }
    std::erase_if(batches_, [&](const auto& batch) { return batch.second.size() < 2 || !gains(batch.second, fuses); });
  }

  Program run() {
    for (std::int32_t index = 0; index < count(); ++index) {
      for (const auto& [kind, casts] : batches_) {
        if (casts[0] == index) add(casts);
      }
      if (!done_[static_cast<std::size_t>(index)]) keep(index);
    }
    return rewriter_.finish();
  }

 private:
  std::int32_t count() const { return static_cast<std::int32_t>(nodes_.size()); }
  const Node& node(std::int32_t index) const { return nodes_[static_cast<std::size_t>(index)]; }

  bool casts_weight(std::int32_t index) const {
    const auto* const cast = op_as<Cast>(node(index));
    if (cast == nullptr || (cast->dtype != Dtype::f16 && cast->dtype != Dtype::bf16)) return false;
    const Node& from = rewriter_.old_node(node(index).inputs[0]);
    return op_as<VariableOp>(from) != nullptr && from.outputs[0].dtype == Dtype::f32 &&
           from.device == node(index).device && node(index).role == Role::forward;
  }

  bool gains(const std::vector<std::int32_t>& casts, const Fuses& fuses) const {
    std::vector<TensorType> inputs;
    for (const std::int32_t index : casts) inputs.push_back(rewriter_.old_graph().type(node(index).inputs[0]));
    const Node& first = node(casts[0]);
    return fuses(first.device, CastAll(first.outputs[0].dtype), inputs);
  }

  void keep(std::int32_t index) {
    rewriter_.keep(index);
    done_[static_cast<std::size_t>(index)] = true;
  }

  void add(const std::vector<std::int32_t>& casts) {
    std::vector<Value> inputs;
    for (const std::int32_t index : casts) {
      const Value weight = node(index).inputs[0];
      if (!done_[static_cast<std::size_t>(weight.node)]) keep(weight.node);
      inputs.push_back(rewriter_.map(weight));
    }
    static const OwnerPtr owner = make_owner("casts of weights");
    const Node& first = node(casts[0]);
    const GraphScope scope(rewriter_.graph(), first.device, owner);
    const auto op = std::make_shared<const CastAll>(first.outputs[0].dtype);
    const Value all = rewriter_.graph().apply(op, inputs);
    for (std::int32_t i = 0; i < static_cast<std::int32_t>(casts.size()); ++i) {
      const std::int32_t index = casts[static_cast<std::size_t>(i)];
      rewriter_.replace({index, 0}, {all.node, i});
      done_[static_cast<std::size_t>(index)] = true;
    }
  }

  Rewriter rewriter_;
  const std::vector<Node>& nodes_;
  std::vector<bool> done_;  // in the new graph, by node of the old one
  std::map<std::pair<DeviceId, Dtype>, std::vector<std::int32_t>> batches_;
};

}  // namespace

Program batch_casts(Program program, const Fuses& fuses) {
  return CastBatching(program, fuses).run();
}

}  // namespace gpubench
