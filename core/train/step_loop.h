// The step loop: fetch an element, run the step's plan on it, check for Ctrl-C. fit, evaluate, predict and
// measure.training all use it, with different plans. A step allocates nothing here.
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

/// The parameters of a step's plan: the elements' fixed types and, for a model with replicas, the position of the rows
/// in the batch of all processes.
struct StepKey {
  std::vector<TensorType> types;
  std::optional<BatchShare> share = std::nullopt;
  bool operator==(const StepKey&) const = default;
};

/// Checks class indices on the host before a kernel reads them: a few comparisons per example instead of undefined
/// behaviour on a device.
struct ClassIndexCheck {
  std::string owner;       ///< "sparse_categorical_crossentropy"
  std::size_t tensor = 0;  ///< index of the labels in the element
  std::int64_t classes = 0;
  std::optional<std::int64_t> ignored = std::nullopt;  ///< a label that is no class

  /// Throws Error naming the first label outside [0, classes), and its example.
  void operator()(const Element& element) const;
};

/// A planned step.
struct StepPlan {
  StepKey key;
  bool on_device = false;  ///< whether elements are in device memory
  std::unique_ptr<Executor> executor;
  std::vector<ClassIndexCheck> checks;
  std::vector<VariablePtr> unreached;  ///< trainable variables on which the loss does not depend
};

class StepLoop {
 public:
  /// Returns the plan for elements of these types, on that device or in host memory (nullptr).
  using PlanSource = std::function<std::shared_ptr<StepPlan>(const StepKey&, const DeviceId* device)>;

  /// Whether all processes take a step together, or each takes its own steps.
  enum class Steps : std::uint8_t { together, own };
  /// `replicas` take the steps; nullptr without replicas.
  explicit StepLoop(PlanSource plans, Replicas* replicas = nullptr, Steps steps = Steps::together)
      : plans_(std::move(plans)), replicas_(replicas), steps_(steps) {}

  /// Fetches the next element and runs its step; false when the epoch has ended in all processes. Throws Interrupted
  /// after Ctrl-C; Error if a label is out of range, or if this process has had no element yet while others have.
  bool step(Cursor& cursor);
  /// Repeats the step with the latest elements, which stay where the device reads them.
  void step_again();
  /// Rows of the latest step, over all replicas.
  std::int64_t examples() const { return plan_->key.share ? plan_->key.share->total : rows(); }
  const StepPlan& plan() const { return *plan_; }
  /// When the latest step began to run, after its element was fetched.
  Clock::time_point fetched() const { return fetched_; }
  /// Releases the latest elements, so that their memory can be reused; the runtime must have been synchronized.
  void release();

 private:
  /// Whether the latest plan fits the latest element, or an empty step.
  bool fits(bool empty) const;
  void choose_plan(bool empty);
  const Element& element() const { return elements_[latest_]; }
  std::int64_t rows() const { return element().front().shape().empty() ? 1 : element().front().shape()[0]; }

  PlanSource plans_;
  Replicas* replicas_;
  Steps steps_;
  std::optional<BatchShare> share_;
  std::int64_t step_ = 0;  // steps of this loop, from 1
  std::shared_ptr<StepPlan> plan_;
  std::vector<Element> elements_{1};  // the latest, and earlier ones that the executor may still read
  std::size_t latest_ = 0;
  std::vector<TensorView> views_;
  Clock::time_point fetched_{};
};

}  // namespace gpubench
