// The tensors of one replica that outlive a step. Graphs, layers and optimizers hold variables by handle; a variable's
// memory returns to the device's pool when its last handle is destroyed.
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

  /// Creates a variable on `device` and copies `initial` into it. Throws OutOfMemory;
  /// OutOfMemoryForVariable where variables take nearly all of the memory in use.
  VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable = true,
                     OwnerPtr owner = nullptr);
  /// The variable's memory; the view stays valid while the variable lives.
  TensorView view(const Variable& variable) const;
  /// A copy on the host; blocks until work queued on the variable's device is complete.
  HostTensor read(const Variable& variable) const;
  /// Throws Error when the type differs.
  void write(const Variable& variable, const HostTensor& value);
  /// Counts the writes to the variable: by write(), and by callers that launch kernels which update it. A value derived
  /// from the variable is current while the count is unchanged. Valid while the variable lives.
  std::atomic<std::uint64_t>& writes(const Variable& variable) const;

  /// Total bytes of the variables on `device`.
  std::size_t bytes(const DeviceId& device) const;

 private:
  struct Slots;
  Buffer allocate(const DeviceId& device, std::size_t size, std::string_view name) const;

  const Devices& devices_;
  std::shared_ptr<Slots> slots_;
};

}  // namespace gpubench
