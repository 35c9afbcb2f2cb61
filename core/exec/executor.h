// Runs one graph with fixed input types. Two executors share one set of kernels: `graph` applies passes and plans
// kernels and memory before the first step, and then only launches; `eager` plans each op when it reaches it.
#pragma once
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "core/comm/communicator.h"
#include "core/exec/plan/plan.h"
#include "core/exec/runtime.h"
#include "core/graph/graph.h"
#include "core/passes/pass.h"
#include "core/trace/profile.h"

namespace gpubench {

enum class Execution : std::uint8_t { graph, eager };
std::string_view to_string(Execution execution);
/// Throws Error listing both names.
Execution parse_execution(std::string_view name);

class Executor {
 public:
  virtual ~Executor() = default;
  /// `inputs`: memory of the graph's inputs, in order, on the host unless the options say otherwise. It must stay
  /// unchanged until inputs_in_flight() more runs have returned, or the runtime has synchronized. May return before the
  /// work is complete; waits for the run before the previous one.
  virtual void run(std::span<const TensorView> inputs) = 0;
  /// run() with the inputs of earlier runs, without copying them again. Devices with their own memory read the slots of
  /// the last inputs_in_flight() runs in turn. The host reads the latest run's memory, which must still be valid.
  virtual void run_again() = 0;
  /// How many later runs may return before an input's memory is no longer read.
  virtual int inputs_in_flight() const = 0;
  /// Blocks until no returned run reads its inputs any more.
  virtual void wait_for_inputs() = 0;
  /// Output `index` of the latest run, in device memory; valid until the runtime runs something else.
  virtual TensorView result(int index) const = 0;
  /// A copy of output `index` on the host; blocks until it is complete.
  virtual HostTensor read(int index) = 0;
  virtual PlanFacts facts() const = 0;
  /// Work of each planned kernel of one run on one replica; empty if nothing is planned (eager execution).
  virtual std::vector<NodeWork> work() const { return {}; }
};

struct ExecutorOptions {
  Execution execution = Execution::graph;
  PassOptions passes{};  ///< for the graph executor
  /// run() receives memory of each input's device instead of the host.
  bool inputs_on_device = false;
  /// Graph executor, for inputs on devices: kernels read inputs in place, without a copy on the device. For memory that
  /// is used repeatedly, such as a pipeline's slots: an address that occurs twice gets a recording.
  bool inputs_in_place = false;
  /// Graph executor, for inputs copied to a device: with 2 slots a batch is copied while the previous step computes;
  /// with 1 it waits for that step's end.
  int input_slots = 2;
  /// Carries out the graph's all-reduces for this replica; must outlive the executor. nullptr without replicas.
  Communicator* communicator = nullptr;
};

/// Plans `graph` so that run() computes `outputs` and every effect. Throws Error (no kernel; offloaded layers in eager
/// execution), OutOfMemory.
std::unique_ptr<Executor> make_executor(Runtime& runtime, Graph graph, std::vector<Value> outputs,
                                        const ExecutorOptions& options = {});

struct PlannedProgram {
  Plan plan;
  InputFeed feed;
};
/// The plan that make_executor would use; allocates nothing. Throws Error for eager execution, which plans nothing.
PlannedProgram plan_program(const Devices& devices, Graph graph, std::vector<Value> outputs,
                            const ExecutorOptions& options);

}  // namespace gpubench
