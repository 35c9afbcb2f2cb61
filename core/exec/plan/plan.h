// Everything that the graph executor decides before the first step: which kernels run in which order, and where each
// tensor lives. Nothing here runs a kernel.
#pragma once
#include <functional>
#include <memory>
#include <set>
#include <span>
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
  variable,  ///< in the variable store
  constant,  ///< computed once, when the plan is made; kept as long as the plan
  kept,      ///< computed from variables after they were written; kept as long as the plan
  arena,     ///< planned memory, only during the run
  host,      ///< planned host memory on behalf of its device, only during the run
};

struct PlannedTensor {
  TensorType type;
  std::size_t device = 0;
  Home home = Home::arena;
  int index = -1;  ///< depends on the home: index of the input, the variable, the constant (constant, kept) or the
                   ///< buffer (arena, host)
  std::size_t offset = 0;  ///< offset in that memory, in bytes; above 0 for views of a part
  std::string label;
  OwnerPtr owner = nullptr;
};

/// When a step runs.
enum class Due : std::uint8_t {
  every_run,
  on_change,  ///< after a variable was written: depends on constants and on variables that the plan does not update
  once,       ///< when the plan is made: depends only on constants
};

/// Kind of a step.
enum class Work : std::uint8_t {
  kernel,
  copy,      ///< inputs[0] to outputs[0], which is in another device's memory or in host memory
  exchange,  ///< in-place all-reduce of its outputs with other replicas
};

/// Order of a step relative to its device's other steps.
enum class Timing : std::uint8_t {
  in_order,  ///< between the previous and the next step
  begin,     ///< starts here and runs beside the following kernels
  end,       ///< makes the following steps wait for a step that was begun
};

/// One launch.
struct PlannedStep {
  Work work = Work::kernel;
  Timing timing = Timing::in_order;
  std::unique_ptr<Kernel> kernel;        ///< for Work::kernel
  Reduction reduction = Reduction::sum;  ///< for Work::exchange
  int begun = -1;                        ///< for Timing::end: index of the step that began the work
  std::vector<int> inputs;               ///< indices of tensors
  std::vector<int> outputs;
  std::size_t device = 0;
  int workspace = -1;  ///< index of a buffer, or -1
  std::size_t workspace_bytes = 0;
  Due due = Due::every_run;  ///< other values for kernels only
  std::string label;
  OwnerPtr owner = nullptr;
  Role role = Role::forward;
  std::string_view op;
  bool adds_inputs = false;  ///< Op::adds_inputs()
  /// What the step adds to the same fields of PlanFacts.
  double flops = 0, bytes = 0;
};

struct PlannedBuffer {
  Lifetime lifetime;
  std::size_t device = 0;
  std::size_t offset = 0;
  std::string label;
  bool on_host = false;  ///< in host memory on behalf of the device
  OwnerPtr owner = nullptr;
};

/// The cost of one run, known before it runs.
struct PlanFacts {
  double flops = 0;             ///< floating-point operations of all kernels
  double bytes = 0;             ///< bytes that the kernels must move at least
  std::size_t arena_bytes = 0;  ///< planned memory for all values within a run, workspaces included
  std::size_t lower_bound = 0;  ///< the largest sum of bytes that are alive at the same time
  std::size_t kernels = 0;      ///< launches per run
  std::size_t crossings = 0;    ///< copies between devices
  double offloaded_bytes = 0;   ///< bytes that are stored in host memory and fetched again
  /// FLOP of matrix products and convolutions with a tensor whose rows are no multiple of `aligned_bytes` long.
  double unaligned_flops = 0;

  /// Why our own kernels compute attention and not a library's: Kernel::why_not_library().
  std::set<std::string, std::less<>> own_attention{};

  /// FLOP of updates, and of what depends on no input of a run: as many whatever the batch is.
  double fixed_flops = 0;

  static constexpr std::size_t aligned_bytes = 16;

  /// Adds a launch of a node. Recomputation is no work of the model, so it has bytes and no flops.
  void add(const Node& node, TensorTypes inputs, bool reads_input);
  PlanFacts& operator+=(const PlanFacts& other);
};

/// By node: whether a run's inputs change what it computes.
std::vector<bool> nodes_that_read_inputs(const Graph& graph);

struct Plan {
  std::vector<DeviceId> devices;
  std::vector<PlannedTensor> tensors;
  std::vector<PlannedStep> steps;
  std::vector<PlannedBuffer> buffers;
  std::vector<std::size_t> arena_bytes;  ///< by device
  std::vector<std::size_t> host_bytes;   ///< by device, in host memory
  std::vector<int> outputs;              ///< indices of tensors
  std::vector<int> inputs;               ///< indices of tensors, by input index
  std::vector<VariablePtr> variables;
  std::vector<HostTensor> constants;  ///< empty if a step that does not run every time computes it
  PlanFacts facts;
  bool overlaps_recorded = false;  ///< as of Program
};

inline constexpr int most_input_slots = 2;

/// How inputs reach the devices.
struct InputFeed {
  bool on_device = false;  ///< inputs are already in their device's memory
  bool in_place = false;   ///< and are read there without a copy
  int slots = most_input_slots;
};

/// Throws Error if a backend has no kernel. The program must have been through the passes.
Plan make_plan(const Program& program, const Devices& devices);

}  // namespace gpubench
