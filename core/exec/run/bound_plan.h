// A plan bound to memory: constants are on their devices, and the tensors of every step are views. Memory that changes
// from run to run is a port: the plan's inputs, and buffers that the caller of the run provides. Redirecting a port
// updates all its views.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "core/exec/plan/plan.h"
#include "core/exec/variable_store.h"

namespace gpubench {

/// The tensors of one planned step.
struct BoundStep {
  std::span<const TensorView> inputs, outputs;
  std::span<std::byte> workspace;
};

class BoundPlan {
 public:
  /// Addresses of the arenas, by device of the plan.
  struct Memory {
    std::vector<std::byte*> arenas, host_arenas;
  };

  /// Allocates memory for the constants and queues their copies. `plan` must outlive it; `variables` may be nullptr if
  /// the plan has none. Throws OutOfMemory.
  BoundPlan(const Plan& plan, const Devices& devices, const VariableStore* variables);

  const Plan& plan() const { return plan_; }
  /// `index`: the plan's index of the device.
  Device& device(std::size_t index) const { return *devices_[index]; }

  /// Makes planned buffer `buffer` a port; call it before bind(). Ports of inputs have the inputs' indices.
  std::size_t add_port(std::size_t buffer);
  /// Creates all views. Invalidates earlier results of step().
  void bind(const Memory& memory);
  /// Redirects a port and all its views to `memory`.
  void point(std::size_t port, std::byte* memory);
  /// The port's memory; nullptr before the first point().
  std::byte* pointed(std::size_t port) const { return ports_[port].memory; }

  const BoundStep& step(std::size_t index) const { return steps_[index]; }
  /// A tensor of the plan; valid until bind().
  TensorView view(int tensor) const;

 private:
  struct Port {
    std::byte* memory = nullptr;
    struct Reader {
      std::size_t view = 0, offset = 0;  // index into views_; byte offset into the port's memory
    };
    std::vector<Reader> readers;
  };

  void keep_constants();
  void add_view(int tensor);
  /// The port of the tensor's memory, or -1.
  int port_of(const PlannedTensor& tensor) const;
  std::byte* address(const PlannedTensor& tensor) const;

  const Plan& plan_;
  const VariableStore* variables_;
  std::vector<Device*> devices_;
  std::vector<Buffer> constants_;
  Memory memory_;
  std::vector<Port> ports_;
  std::vector<int> port_of_buffer_;  // index of the port, or -1
  std::vector<TensorView> views_;    // of all steps, which refer to parts of it
  std::vector<BoundStep> steps_;
};

}  // namespace gpubench
