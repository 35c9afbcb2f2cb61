// A tensor that outlives a step (weights, optimizer state, counters), as graphs see it. Its memory lies in the
// variable store of each replica; it is freed when the last holder of the handle lets go.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "core/tensor/device_id.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {

/// A layer, loss, metric or optimizer, as nodes and variables refer to it. Two owners are the same when they are one
/// object, whatever their names: names are for people, and two models may use the same ones.
struct Owner {
  std::string name;  ///< "dense_1", "adam"
};
using OwnerPtr = std::shared_ptr<const Owner>;

inline OwnerPtr make_owner(std::string name) {
  return std::make_shared<const Owner>(Owner{std::move(name)});
}

struct Variable {
  std::int32_t index = -1;  ///< its place in the stores
  std::string name;         ///< "dense/kernel"
  TensorType type;
  DeviceId device;
  bool trainable = true;
  OwnerPtr owner = nullptr;  ///< an optimizer's slot belongs to the layer whose variable it is for
};

using VariablePtr = std::shared_ptr<const Variable>;

}  // namespace gpubench
