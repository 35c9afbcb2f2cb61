// The steps of a plan that do not run every time. Steps that depend only on constants run once; steps that depend on
// variables which the plan does not update run after such a variable was written.
#pragma once
#include <atomic>
#include <cstdint>
#include <vector>

#include "core/exec/run/launch.h"
#include "core/trace/host_spans.h"

namespace gpubench {

class InvariantSteps {
 public:
  InvariantSteps(const BoundPlan& bound, const VariableStore& variables);

  /// Call after BoundPlan::bind().
  void bind();
  /// Queues the steps that depend only on constants.
  void run_once();
  /// Queues the steps of which a variable was written since the latest call. `spans` may be nullptr.
  void run_changed(HostSpans* spans);
  /// Counts a run as a write to each variable that the plan updates.
  void count_updates();

 private:
  struct DeviceLaunch {
    Device* device;
    KernelLaunch launch;
  };
  struct Watched {
    const std::atomic<std::uint64_t>* writes;
    std::uint64_t seen;
  };

  static void queue(const std::vector<DeviceLaunch>& launches);

  const BoundPlan& bound_;
  std::vector<DeviceLaunch> once_, on_change_;
  std::vector<Watched> watched_;  // variables that on_change_ depends on
  std::vector<std::atomic<std::uint64_t>*> updated_;
};

}  // namespace gpubench
