// The one step loop: fetch an element, run the step's plan on it, look for Ctrl-C. fit, evaluate, predict and
// measure.training all run it; what differs is which plans it is given. A step allocates nothing here.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "core/base/clock.h"
#include "core/data/dataset.h"
#include "core/exec/executor.h"
#include "core/exec/plan_cache.h"
#include "core/train/class_index_check.h"

namespace gpubench {

/// A planned step for elements of fixed types.
struct StepPlan {
  std::vector<TensorType> types;
  bool on_device = false;  ///< where the elements lie
  std::unique_ptr<Executor> executor;
  std::vector<ClassIndexCheck> checks;
};

class StepLoop {
 public:
  /// Returns the plan for elements of these types, on that device or in host memory (nullptr); it stays valid while the
  /// loop lives.
  using PlanSource = std::function<StepPlan&(const std::vector<TensorType>&, const DeviceId* device)>;

  explicit StepLoop(PlanSource plans) : plans_(std::move(plans)) {}

  /// Fetches the next element and runs its step; false when the epoch has ended. Throws Interrupted after a Ctrl-C,
  /// Error when a label is out of range.
  bool step(Cursor& cursor);
  /// One more step with the latest elements, which stay where the device reads them.
  void step_again();
  /// Elements of the first dimension in the latest step.
  std::int64_t examples() const { return element().front().shape().empty() ? 1 : element().front().shape()[0]; }
  const StepPlan& plan() const { return *plan_; }
  /// When the latest step began to run, after its element had arrived.
  Clock::time_point fetched() const { return fetched_; }
  /// Lets go of the latest elements, so that their memory can be used again; the runtime has synchronized.
  void release();

 private:
  bool fits() const;
  void choose_plan();
  const Element& element() const { return elements_[latest_]; }

  PlanSource plans_;
  StepPlan* plan_ = nullptr;
  std::vector<Element> elements_{1};  // the latest, and those before it that the executor may still read
  std::size_t latest_ = 0;
  std::vector<TensorView> views_;
  Clock::time_point fetched_{};
};

}  // namespace gpubench
