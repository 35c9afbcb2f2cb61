// A tensor that outlives a step (weights, optimizer state, counters), as graphs refer to it. Its memory is in the
// variable store of each replica; it is freed with the last handle.
#pragma once
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/tensor/device_id.h"
#include "core/tensor/tensor_type.h"

namespace gpubench {

/// A layer, loss, metric or optimizer, as nodes and variables refer to it. Owners are compared by object, not by name:
/// names are for people, and two models may use the same ones.
struct Owner {
  std::string name;  ///< "dense_1", "adam"
  /// What a layer's options want of its weights after each update.
  struct WeightText {
    std::string part;      ///< "inner/" of a layer inside of the owner
    std::string variable;  ///< "kernel"
    std::string text;      ///< "max_norm(max_value=2)"
  };
  std::vector<WeightText> constraints{};
};
using OwnerPtr = std::shared_ptr<const Owner>;

inline OwnerPtr make_owner(std::string name) {
  return std::make_shared<const Owner>(Owner{std::move(name)});
}

struct Variable {
  std::int32_t index = -1;  ///< index in the variable stores
  std::string name;         ///< "dense/kernel"
  TensorType type;
  DeviceId device;
  bool trainable = true;     ///< a weight, and no statistic or counter; its layer may be frozen nevertheless
  OwnerPtr owner = nullptr;  ///< for optimizer state: the layer of the variable that it belongs to
};

using VariablePtr = std::shared_ptr<const Variable>;

}  // namespace gpubench
