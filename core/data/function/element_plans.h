// The plans of one function, one per set of input types, created when the types first occur. A dataset of images may
// have as many sizes as images.
#pragma once
#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/data/function/element_function.h"
#include "core/exec/plan_cache.h"

namespace gpubench {

/// Not thread-safe.
class ElementPlans {
 public:
  static constexpr std::size_t most = 16;

  explicit ElementPlans(std::shared_ptr<const ElementFunction> function) : function_(std::move(function)) {}

  /// Valid until the next call.
  ElementRunner& for_inputs(std::span<const TensorView> inputs) {
    const auto fits = [&](const std::vector<TensorType>& types) {
      return function_->takes_any_extents() ||
             std::equal(types.begin(), types.end(), inputs.begin(), inputs.end(),
                        [](const TensorType& type, const TensorView& input) { return type == *input.type; });
    };
    const auto types_of_inputs = [&] {
      std::vector<TensorType> types;
      for (const TensorView& input : inputs) types.push_back(*input.type);
      return types;
    };
    return *plans_.get_if(fits, types_of_inputs,
                          [&](const std::vector<TensorType>& of) { return function_->plan(of); });
  }

 private:
  std::shared_ptr<const ElementFunction> function_;
  PlanCache<ElementRunner> plans_{most};
};

}  // namespace gpubench
