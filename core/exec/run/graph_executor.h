// Runs a plan: binds every tensor to memory once; each run then executes the plan's segments.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/run/launch.h"
#include "core/exec/run/segment_runner.h"
#include "core/trace/host_spans.h"

namespace gpubench {

/// The steps of a plan that do not run every time. Steps that depend only on constants run once; steps that depend on
/// variables which the plan does not update run after such a variable was written.
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

class GraphExecutor final : public Executor {
 public:
  /// `program` must have been through the passes. Throws Error, OutOfMemory (naming the plan's largest tensors).
  /// `communicator` carries out its exchanges; nullptr if it has none.
  GraphExecutor(Runtime& runtime, const Program& program, InputFeed feed, Communicator* communicator = nullptr);
  ~GraphExecutor() override;

  void run(std::span<const TensorView> inputs) override;
  void run_again() override;
  void wait_for_inputs() override { inputs_.wait(); }
  TensorView result(int index) const override;
  HostTensor read(int index) override;
  PlanFacts facts() const override { return plan_.facts; }
  std::vector<NodeWork> work() const override;
  int inputs_in_flight() const override { return inputs_.in_flight(); }
  const Plan& plan() const { return plan_; }
  const InputFeed& feed() const { return inputs_.feed(); }

 private:
  /// The plan's claims on its devices' arenas.
  struct Arenas {
    Arenas(Runtime& runtime, const Plan& plan);
    BoundPlan::Memory memory() const;
    /// Changes when an arena has moved.
    std::uint64_t generation() const;

    std::vector<Arena::Claim> device, host;
  };

  void bind();
  /// Calls bind() if memory or recordings of the latest bind() are no longer valid.
  void renew();
  void run_segments(const InputSlots::Reading& reading);

  Runtime& runtime_;
  Communicator* communicator_;
  Plan plan_;
  Arenas arenas_;
  BoundPlan bound_;
  InputSlots inputs_;
  SegmentRunner segments_;
  InvariantSteps invariant_;
  std::uint64_t generation_ = 0, recordings_ = 0;  // of the arenas and of the runtime, at the latest bind()
};

}  // namespace gpubench
