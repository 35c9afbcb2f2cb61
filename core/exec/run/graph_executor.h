// Runs a plan: binds every tensor to memory once; each run then executes the plan's segments.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/run/invariant_steps.h"
#include "core/exec/run/segment_runner.h"

namespace gpubench {

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
