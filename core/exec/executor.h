// Runs one graph with fixed input types. Built: passes, kernels, memory plan. Run: nothing but launches. There are two,
// over one set of kernels: `graph` plans everything before the first step, `eager` meets one op after the other.
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

namespace gpubench {

enum class Execution : std::uint8_t { graph, eager };
std::string_view to_string(Execution execution);
/// Throws Error listing both names.
Execution parse_execution(std::string_view name);

class Executor {
 public:
  virtual ~Executor() = default;
  /// `inputs`: memory of the graph's input types, in order, on the host unless the options say otherwise. It must stay
  /// unchanged until inputs_in_flight() more runs have returned, or the runtime has synchronized. May return before the
  /// work is done; waits for the run before the previous one.
  virtual void run(std::span<const TensorView> inputs) = 0;
  /// run() with the inputs of the latest runs, which are where the device reads them already: nothing is copied in.
  /// Devices with memory of their own take the last inputs_in_flight() of them in turn; the host's must still be there.
  virtual void run_again() = 0;
  /// For how many runs the memory of an input may still be read after its own run has returned.
  virtual int inputs_in_flight() const = 0;
  /// Blocks until no run that has returned reads its inputs any more.
  virtual void wait_for_inputs() = 0;
  /// Output `index` of the latest run, in device memory; valid until the runtime runs something else.
  virtual TensorView result(int index) const = 0;
  /// A copy of output `index` on the host; waits for it.
  virtual HostTensor read(int index) = 0;
  virtual PlanFacts facts() const = 0;
};

struct ExecutorOptions {
  Execution execution = Execution::graph;
  PassOptions passes{};  ///< of the graph executor
  /// run() is given memory of each input's device rather than of the host.
  bool inputs_on_device = false;
  /// Of the graph executor, for inputs on devices: they are read where they are instead of being copied on the device
  /// first. For memory that comes again and again, as a pipeline's slots do: a recording is made for the places that
  /// inputs have been in twice.
  bool inputs_in_place = false;
  /// Of the graph executor, for inputs that are copied to a device: 2 lets a batch travel while the step before it
  /// computes, 1 makes it wait for that step's end.
  int input_slots = 2;
  /// This replica's end of what all-reduces in the graph go through; outlives the executor.
  Communicator* communicator = nullptr;
};

/// Plans `graph` so that run() computes `outputs` and every effect. Throws Error (no kernel; layers to be offloaded in
/// eager execution), OutOfMemory.
std::unique_ptr<Executor> make_executor(Runtime& runtime, Graph graph, std::vector<Value> outputs,
                                        const ExecutorOptions& options = {});

struct PlannedProgram {
  Plan plan;
  InputFeed feed;
};
/// What make_executor would plan; takes no memory. Throws Error for eager execution, which plans nothing.
PlannedProgram plan_program(const Devices& devices, Graph graph, std::vector<Value> outputs,
                            const ExecutorOptions& options);

}  // namespace gpubench
