// Everything the graph executor decides before the first step: which kernels run in which order and where each tensor
// lives. Pure planning: nothing here runs a kernel.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "core/backend/registry/devices.h"
#include "core/exec/executor.h"
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
  int index = -1;  ///< of the input, variable; of the constant for what is kept too; of the buffer for the arena
  std::size_t offset = 0;  ///< where it begins in that, in bytes: views of a part
  std::string label;
  OwnerPtr owner = nullptr;
};

/// When a step runs.
enum class Due : std::uint8_t {
  every_run,
  on_change,  ///< depends on constants and on variables that the plan leaves alone: when one of those was written to
  once,       ///< depends on constants alone: when the plan is made
};

/// What a step does.
enum class Work : std::uint8_t {
  kernel,
  transfer,        ///< copies inputs[0] to outputs[0], from one device to another
  begin,           ///< begins such a copy between a device and its part of the host's memory, beside the kernels
  end,             ///< makes what follows wait for it
  exchange,        ///< an all-reduce of its tensors with other replicas: sums
  exchange_max,    ///< the same of their maxima
  exchange_begin,  ///< begins one beside the kernels
  exchange_end,    ///< makes what follows wait for it
};

/// One launch: a kernel, or a copy.
struct PlannedStep {
  Work work = Work::kernel;
  std::unique_ptr<Kernel> kernel;  ///< of Work::kernel
  std::vector<int> inputs;         ///< tensors
  std::vector<int> outputs;
  std::size_t device = 0;
  int workspace = -1;  ///< buffer, or -1
  std::size_t workspace_bytes = 0;
  Due due = Due::every_run;
  std::string label;
  OwnerPtr owner = nullptr;
  std::string_view op;
  bool adds_inputs = false;  ///< Op::adds_inputs()
};

struct PlannedBuffer {
  Lifetime lifetime;
  std::size_t device = 0;
  std::size_t offset = 0;
  std::string label;
  bool on_host = false;  ///< in the device's part of the host's memory
  OwnerPtr owner = nullptr;
};

struct Plan {
  std::vector<DeviceId> devices;
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedStep> steps;
  std::vector<PlannedBuffer> buffers;
  std::vector<std::size_t> arena_bytes;  ///< per device
  std::vector<std::size_t> host_bytes;   ///< per device: for what waits in the host's memory
  std::vector<int> outputs;              ///< tensors
  std::vector<int> inputs;               ///< tensors, by input index
  std::vector<VariablePtr> variables;
  std::vector<HostTensor> constants;  ///< empty where a step that is not due in every run computes it
  PlanFacts facts;
};

/// Throws Error where a backend has no kernel. The program has been through the passes.
Plan make_plan(const Program& program, const Devices& devices);

}  // namespace gpubench
