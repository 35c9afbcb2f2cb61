#include "core/train/recompute_choice.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>

namespace gpubench {
namespace {

constexpr std::size_t most_growing_sets = 16;

class Choosing {
 public:
  Choosing(const std::vector<LayerWork>& layers, std::size_t budget,
           const std::function<RecomputePlan(const std::vector<std::string>&)>& plan)
      : layers_(layers), budget_(budget), plan_(plan) {
    best_.least_bytes = std::numeric_limits<std::size_t>::max();
  }

  RecomputeChoice run() {
    for (std::size_t stride = 2; stride <= layers_.size() + 1; ++stride) look_at(all_but_every(stride));
    const std::vector<std::size_t> order = cheapest_first();
    const std::size_t step = std::max<std::size_t>(1, order.size() / most_growing_sets);
    for (std::size_t count = 1; count <= order.size(); count += step) {
      look_at({order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count)});
    }
    keep_again();
    best_.layers = names(chosen_);
    return std::move(best_);
  }

 private:
  using Places = std::set<std::size_t>;  // in layers_

  Places all_but_every(std::size_t stride) const {
    Places dropped;
    for (std::size_t place = 0; place < layers_.size(); ++place) {
      if ((place + 1) % stride != 0) dropped.insert(place);
    }
    return dropped;
  }

  /// Without layers that save nothing.
  std::vector<std::size_t> cheapest_first() const {
    std::vector<std::size_t> order;
    for (std::size_t place = 0; place < layers_.size(); ++place) {
      if (layers_[place].bytes > 0) order.push_back(place);
    }
    std::ranges::stable_sort(
        order, {}, [&](std::size_t place) { return layers_[place].flops / static_cast<double>(layers_[place].bytes); });
    return order;
  }

  std::vector<std::string> names(const Places& places) const {
    std::vector<std::string> result;
    for (const std::size_t place : places) result.push_back(layers_[place].name);
    return result;
  }

  bool look_at(const Places& places) {
    if (places.empty() || !seen_.insert(places).second) return false;
    const RecomputePlan planned = plan_(names(places));
    best_.least_bytes = std::min(best_.least_bytes, planned.bytes);
    if (planned.bytes > budget_ || (best_.fits && planned.flops >= best_.plan.flops)) return false;
    best_.fits = true;
    best_.plan = planned;
    chosen_ = places;
    return true;
  }

  void keep_again() {
    if (!best_.fits) return;
    std::vector<std::size_t> dearest(chosen_.begin(), chosen_.end());
    std::ranges::stable_sort(dearest, std::greater{}, [&](std::size_t place) { return layers_[place].flops; });
    for (const std::size_t place : dearest) {
      Places fewer = chosen_;
      fewer.erase(place);
      look_at(fewer);
    }
  }

  const std::vector<LayerWork>& layers_;
  std::size_t budget_;
  const std::function<RecomputePlan(const std::vector<std::string>&)>& plan_;
  std::set<Places> seen_;
  Places chosen_;
  RecomputeChoice best_;
};

}  // namespace

std::vector<LayerWork> work_of_layers(const Graph& step, const std::vector<OwnerPtr>& layers) {
  const std::vector<Node>& nodes = step.nodes();
  std::vector<std::vector<bool>> read(nodes.size());  // by gradients
  for (std::size_t index = 0; index < nodes.size(); ++index) read[index].resize(nodes[index].outputs.size());
  for (const Node& node : nodes) {
    if (node.role != Role::gradient) continue;
    for (const Value input : node.inputs) {
      read[static_cast<std::size_t>(input.node)][static_cast<std::size_t>(input.output)] = true;
    }
  }
  std::vector<LayerWork> work;
  for (const OwnerPtr& layer : layers) {
    LayerWork& one = work.emplace_back(LayerWork{.name = layer->name});
    for (std::size_t index = 0; index < nodes.size(); ++index) {
      const Node& node = nodes[index];
      if (node.inputs.empty() || node.role != Role::forward || node.owner != layer) continue;
      std::vector<TensorType> inputs;
      for (const Value input : node.inputs) inputs.push_back(step.type(input));
      one.flops += node.op->flops(inputs, node.outputs);
      for (std::size_t output = 0; output < node.outputs.size(); ++output) {
        if (read[index][output]) one.bytes += node.outputs[output].bytes();
      }
    }
  }
  return work;
}

RecomputeChoice choose_recomputed(const std::vector<LayerWork>& layers, std::size_t budget,
                                  const std::function<RecomputePlan(const std::vector<std::string>&)>& plan) {
  return Choosing(layers, budget, plan).run();
}

}  // namespace gpubench
