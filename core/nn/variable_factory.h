// Creates variables for layers and optimizers, which know no executor: the owner of the memory implements this
// interface.
#pragma once
#include <cstdint>
#include <string>

#include "core/graph/variable.h"
#include "core/tensor/host_tensor.h"

namespace gpubench {

class VariableFactory {
 public:
  virtual ~VariableFactory() = default;
  /// Throws OutOfMemory.
  virtual VariablePtr create(std::string name, const HostTensor& initial, const DeviceId& device, bool trainable,
                             OwnerPtr owner) = 0;
  /// A new seed of the global sequence, for initializers and layers without their own seed.
  virtual std::uint64_t next_seed() = 0;
};

}  // namespace gpubench
