// A tensor that outlives a step (weights, optimizer state, counters), as graphs see it. Its memory lies in the
// variable store of each replica; it is freed when the last holder of the handle lets go.
#pragma once
#include <memory>
#include <string>

#include "core/tensor/device_id.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {

struct Variable {
  std::int32_t index = -1;  ///< its place in the stores
  std::string name;         ///< "dense/kernel"
  TensorType type;
  DeviceId device;
  bool trainable = true;
};

using VariablePtr = std::shared_ptr<const Variable>;

}  // namespace gpubench
