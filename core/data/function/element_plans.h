// The plans of one function for the types of elements that come: made when they are first met, and few at a time, since
// images of all sizes would leave a plan each behind.
#pragma once
#include <list>
#include <memory>
#include <span>
#include <vector>

#include "core/data/function/element_function.h"

namespace gpubench {

/// Used by one thread at a time.
class ElementPlans {
 public:
  static constexpr std::size_t most = 16;

  explicit ElementPlans(std::shared_ptr<const ElementFunction> function) : function_(std::move(function)) {}

  /// Valid until the next call.
  ElementRunner& for_inputs(std::span<const TensorView> inputs);

 private:
  struct Plan {
    std::vector<TensorType> inputs;
    std::unique_ptr<ElementRunner> runner;
  };

  std::shared_ptr<const ElementFunction> function_;
  std::list<Plan> plans_;  // the one used last is the first
};

}  // namespace gpubench
