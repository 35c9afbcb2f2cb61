// The tensors of one replica that outlive a step. Graphs, layers and optimizers hold variables by handle; the memory
// goes back to the device's pool when the last handle is gone, whatever else of the store lives on.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/registry/devices.h"
#include "core/device/memory_pool.h"
#include "core/graph/variable.h"
#include "core/tensor/host_tensor.h"
#include "core/tensor/tensor_view.h"

namespace gpubench {

class VariableStore {
 public:
  explicit VariableStore(const Devices& devices);

  /// Makes a variable on `device` and copies `initial` into it. Throws OutOfMemory.
  VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable = true,
                     OwnerPtr owner = nullptr);
  /// The variable's memory; the view stays valid while the variable lives.
  TensorView view(const Variable& variable) const;
  /// A copy on the host; waits for the work queued on the variable's device.
  HostTensor read(const Variable& variable) const;
  /// Throws Error when the type differs.
  void write(const Variable& variable, const HostTensor& value);
  /// Counts the writes to the variable, by write() and by whoever launches kernels that update it: what was computed
  /// from a variable holds as long as its count. Valid while the variable lives.
  std::atomic<std::uint64_t>& writes(const Variable& variable) const;
  /// Bytes of all living variables on `device`.
  std::size_t bytes(const DeviceId& device) const;

 private:
  struct Slots;
  const Devices& devices_;
  std::shared_ptr<Slots> slots_;
};

}  // namespace gpubench
