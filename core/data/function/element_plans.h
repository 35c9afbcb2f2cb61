// The plans of one function, one per set of input types, created when the types first occur. Only the most recently
// used plans are kept, because a dataset of images may have as many sizes as images.
#pragma once
#include <algorithm>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "core/data/function/element_function.h"

namespace gpubench {

/// Not thread-safe.
class ElementPlans {
 public:
  static constexpr std::size_t most = 16;

  explicit ElementPlans(std::shared_ptr<const ElementFunction> function) : function_(std::move(function)) {}

  /// Valid until the next call.
  ElementRunner& for_inputs(std::span<const TensorView> inputs) {
    const auto fits = [&](const Plan& plan) {
      return function_->takes_any_extents() ||
             std::equal(plan.inputs.begin(), plan.inputs.end(), inputs.begin(), inputs.end(),
                        [](const TensorType& type, const TensorView& input) { return type == *input.type; });
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

 private:
  struct Plan {
    std::vector<TensorType> inputs;
    std::unique_ptr<ElementRunner> runner;
  };

  std::shared_ptr<const ElementFunction> function_;
  std::list<Plan> plans_;  // most recently used first
};

}  // namespace gpubench
