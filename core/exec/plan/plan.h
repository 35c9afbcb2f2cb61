// Everything the graph executor decides before the first step: which kernels run in which order and where each tensor
// lives. Pure planning: nothing here runs a kernel.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/backend/registry/devices.h"
#include "core/comm/collective.h"
#include "core/graph/memory_plan.h"
#include "core/passes/pass.h"

namespace gpubench {

/// Where a tensor's memory comes from.
enum class Home : std::uint8_t {
  input,     ///< provided by the caller of run()
  variable,  ///< lies in the variable store
  constant,  ///< computed once, when the plan is made; lives as long as the plan
  kept,      ///< computed from variables when they have been written to; lives as long as the plan
  arena,     ///< planned; dies within the run
  host,      ///< planned, in the host's memory on behalf of its device; dies within the run
};

struct PlannedTensor {
  TensorType type;
  std::size_t device = 0;
  Home home = Home::arena;
  int index = -1;  ///< by home: of the input, the variable, the constant (constant, kept), the buffer (arena, host)
  std::size_t offset = 0;  ///< where it begins in that, in bytes; above 0 for views of a part
  std::string label;
};

/// When a step runs.
enum class Due : std::uint8_t {
  every_run,
  on_change,  ///< when a variable was written to: depends on constants and on variables that the plan does not update
  once,       ///< when the plan is made: depends on constants alone
};

/// What a step does.
enum class Work : std::uint8_t {
  kernel,
  copy,      ///< inputs[0] to outputs[0], which lies in another device's memory or in the host's
  exchange,  ///< an all-reduce of its outputs, in place, with other replicas
};

/// How a step runs beside its device's other steps.
enum class Timing : std::uint8_t {
  in_order,  ///< between the steps before and behind it
  begin,     ///< starts, and runs beside the kernels that follow
  end,       ///< makes what follows wait for a step that was begun
};

/// One launch.
struct PlannedStep {
  Work work = Work::kernel;
  Timing timing = Timing::in_order;
  std::unique_ptr<Kernel> kernel;        ///< of Work::kernel
  Reduction reduction = Reduction::sum;  ///< of Work::exchange
  int begun = -1;                        ///< of Timing::end: the step that began what this one waits for
  std::vector<int> inputs;               ///< tensors
  std::vector<int> outputs;
  std::size_t device = 0;
  int workspace = -1;  ///< buffer, or -1
  std::size_t workspace_bytes = 0;
  Due due = Due::every_run;  ///< another one for kernels only
  std::string label;
  std::string_view op;
};

struct PlannedBuffer {
  Lifetime lifetime;
  std::size_t device = 0;
  std::size_t offset = 0;
  std::string label;
  bool on_host = false;  ///< in the device's part of the host's memory
};

/// What one run costs, known before it runs.
struct PlanFacts {
  double flops = 0;             ///< floating-point operations of all kernels
  double bytes = 0;             ///< bytes that the kernels must move at least
  std::size_t arena_bytes = 0;  ///< planned memory for everything that dies within a run, workspaces included
  std::size_t lower_bound = 0;  ///< the largest sum of bytes alive at one time
  std::size_t kernels = 0;      ///< launches per run
};

struct Plan {
  std::vector<DeviceId> devices;
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedStep> steps;
  std::vector<PlannedBuffer> buffers;
  std::vector<std::size_t> arena_bytes;  ///< per device
  std::vector<std::size_t> host_bytes;   ///< per device: in the host's memory
  std::vector<int> outputs;              ///< tensors
  std::vector<int> inputs;               ///< tensors, by input index
  std::vector<VariablePtr> variables;
  std::vector<HostTensor> constants;  ///< empty where a step that is not due in every run computes it
  PlanFacts facts;
};

inline constexpr int most_input_slots = 2;

/// How a run gets its inputs.
struct InputFeed {
  bool on_device = false;  ///< inputs lie in their device's memory already
  bool in_place = false;   ///< and are read there
  int slots = most_input_slots;
};

/// Throws Error where a backend has no kernel. The program has been through the passes.
Plan make_plan(const Program& program, const Devices& devices);

}  // namespace gpubench
