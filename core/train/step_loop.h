// The one step loop: fetch an element, run the step's plan on it, look for Ctrl-C. fit, evaluate, predict and
// measure.training all run it; what differs is which plans it is given. A step allocates nothing here.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/data/dataset.h"
#include "core/exec/executor.h"
#include "core/exec/plan_cache.h"
#include "core/exec/replicas.h"

namespace gpubench {

/// What a step is planned for: elements of fixed types and, of a model with replicas, which rows of all processes'
/// batch they are.
struct StepKey {
  std::vector<TensorType> types;
  std::optional<BatchShare> share = std::nullopt;
  bool operator==(const StepKey&) const = default;
};

/// Class indices are checked on the host before they reach a kernel: a few comparisons per example instead of undefined
/// behaviour on a device.
struct ClassIndexCheck {
  std::string owner;       ///< "sparse_categorical_crossentropy"
  std::size_t tensor = 0;  ///< which tensor of the element
  std::int64_t classes = 0;

  /// Throws Error naming the first label that is not in [0, classes), and the example it belongs to.
  void operator()(const Element& element) const;
};

/// A planned step.
struct StepPlan {
  StepKey key;
  bool on_device = false;  ///< where the elements lie
  std::unique_ptr<Executor> executor;
  std::vector<ClassIndexCheck> checks;
};

class StepLoop {
 public:
  /// Returns the plan for elements of these types, on that device or in host memory (nullptr); it stays valid while the
  /// loop lives.
  using PlanSource = std::function<StepPlan&(const StepKey&, const DeviceId* device)>;

  /// Whether all processes take a step when one does, or each takes steps of its own.
  enum class Steps : std::uint8_t { together, own };
  /// `replicas` take the steps; nullptr for a model alone.
  explicit StepLoop(PlanSource plans, Replicas* replicas = nullptr, Steps steps = Steps::together)
      : plans_(std::move(plans)), replicas_(replicas), steps_(steps) {}

  /// Fetches the next element and runs its step; false when the epoch has ended, for all processes. Throws Interrupted
  /// after a Ctrl-C, Error when a label is out of range, or this process has had no element yet and others have.
  bool step(Cursor& cursor);
  /// One more step with the latest elements, which stay where the device reads them.
  void step_again();
  /// Elements of the first dimension in the latest step, of all replicas together.
  std::int64_t examples() const { return plan_->key.share ? plan_->key.share->total : rows(); }
  const StepPlan& plan() const { return *plan_; }
  /// When the latest step began to run, after its element had arrived.
  Clock::time_point fetched() const { return fetched_; }
  /// Lets go of the latest elements, so that their memory can be used again; the runtime has synchronized.
  void release();

 private:
  /// Whether the latest plan is the one for the latest element, or for none.
  bool fits(bool empty) const;
  void choose_plan(bool empty);
  const Element& element() const { return elements_[latest_]; }
  std::int64_t rows() const { return element().front().shape().empty() ? 1 : element().front().shape()[0]; }

  PlanSource plans_;
  Replicas* replicas_;
  Steps steps_;
  std::optional<BatchShare> share_;
  std::int64_t step_ = 0;  // of this loop, from 1
  StepPlan* plan_ = nullptr;
  std::vector<Element> elements_{1};  // the latest, and those before it that the executor may still read
  std::size_t latest_ = 0;
  std::vector<TensorView> views_;
  Clock::time_point fetched_{};
};

}  // namespace gpubench
