// Runs a plan: binds every tensor to memory once, then each run is a walk over the launches.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "core/exec/executor.h"
#include "core/exec/plan.h"

namespace gpubench {

class GraphExecutor final : public Executor {
 public:
  /// `program` has been through the passes. Throws Error, OutOfMemory (naming the plan's largest tensors).
  GraphExecutor(Runtime& runtime, const Program& program);
  ~GraphExecutor() override;

  void run(std::span<const TensorView> inputs) override;
  TensorView result(int index) const override;
  HostTensor read(int index) override;
  PlanFacts facts() const override { return plan_.facts; }
  const Plan& plan() const { return plan_; }

 private:
  struct Launch;
  struct InputSlot;

  void claim_memory();
  /// Points the launches of the steps that run once, or of all others, to their memory.
  void bind(bool once);
  void run_once_steps();
  std::byte* address(int tensor) const;
  void set_inputs(std::span<const TensorView> inputs);
  void launch(Launch& launch);
  bool arenas_moved() const;

  Runtime& runtime_;
  Plan plan_;
  std::vector<Device*> devices_;
  std::vector<Stream*> streams_;
  std::vector<Arena::Claim> arenas_;
  std::vector<std::uint64_t> generations_;
  std::vector<Buffer> constants_;
  std::vector<InputSlot> slots_;  // by input
  std::vector<TensorView> views_;
  std::vector<Launch> launches_;
};

}  // namespace gpubench
