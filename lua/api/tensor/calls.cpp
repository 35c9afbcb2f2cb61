#include "lua/api/tensor/calls.h"

#include <algorithm>

#include "core/exec/replicas.h"
#include "core/ops/state.h"
#include "lua/api/session.h"

namespace gpubench::lua {

gpubench::Value CallCounter::count(Graph& graph, World& world) {
  if (!counter_) {
    counter_ = world.runtime.variables().create("calls", HostTensor::scalar<std::int64_t>(0), world.dispatcher.device(),
                                                false);
  }
  return ops::count_call(graph, counter_);
}

CallVariant variant_of_call(const Dispatcher& dispatcher, std::span<const Tensor> inputs, bool training, bool draws) {
  CallVariant variant{.kind = training ? 1 : 0};
  const TracedReplica* const replica = dispatcher.trace() != nullptr ? dispatcher.trace()->replica : nullptr;
  if (!training || replica == nullptr) return variant;
  variant.replica = ReplicaCall{.loss_is_own = true};
  const bool all_rows =
      !inputs.empty() && !inputs[0].type().shape.empty() && inputs[0].type().shape[0] == replica->share.rows;
  if (!all_rows) return variant;
  variant.replica->batch_rows = replica->share.total;
  if (draws) variant.first_row = replica->share.first;
  return variant;
}

std::vector<Tensor> TensorCalls::apply(Dispatcher& dispatcher, std::span<const Tensor> inputs,
                                       const CallVariant& variant, const Build& build) {
  const auto fits = [&](const std::unique_ptr<Known>& known) {
    return known->variant == variant && known->device == dispatcher.device() &&
           std::equal(inputs.begin(), inputs.end(), known->types.begin(), known->types.end(),
                      [](const Tensor& tensor, const TensorType& type) { return tensor.type() == type; });
  };
  auto found = std::find_if(known_.begin(), known_.end(), fits);
  if (found == known_.end()) {
    auto made = std::make_unique<Known>();
    made->variant = variant;
    made->device = dispatcher.device();
    made->graph.set_device(dispatcher.device());
    std::vector<gpubench::Value> values;
    for (const Tensor& input : inputs) {
      made->types.push_back(input.type());
      values.push_back(made->graph.input(input.type(), "argument"));
    }
    made->outputs = build(made->graph, values);
    found = known_.insert(known_.end(), std::move(made));
  }
  std::vector<gpubench::Value> present;
  for (const gpubench::Value output : (*found)->outputs) {
    if (output) present.push_back(output);
  }
  std::vector<Tensor> results = dispatcher.apply((*found)->graph, inputs, present);
  if (present.size() == (*found)->outputs.size()) return results;
  std::vector<Tensor> all;
  auto next = results.begin();
  for (const gpubench::Value output : (*found)->outputs) all.push_back(output ? std::move(*next++) : Tensor());
  return all;
}

}  // namespace gpubench::lua
