#include "core/data/function/element_plans.h"

#include <algorithm>

namespace gpubench {
namespace {

bool same(const TensorType& type, const TensorView& input) {
  return type == *input.type;
}

}  // namespace

ElementRunner& ElementPlans::for_inputs(std::span<const TensorView> inputs) {
  const auto fits = [&](const Plan& plan) {
    return function_->takes_any_extents() ||
           std::equal(plan.inputs.begin(), plan.inputs.end(), inputs.begin(), inputs.end(), &same);
  };
  const auto found = std::find_if(plans_.begin(), plans_.end(), fits);
  if (found != plans_.end()) {
    if (found != plans_.begin()) plans_.splice(plans_.begin(), plans_, found);
    return *plans_.front().runner;
  }
  Plan plan;
  for (const TensorView& input : inputs) plan.inputs.push_back(*input.type);
  plan.runner = function_->plan(plan.inputs);
  if (plans_.size() == most) plans_.pop_back();
  plans_.push_front(std::move(plan));
  return *plans_.front().runner;
}

}  // namespace gpubench
