// A model's layers and how they are joined, as JSON; without the weights.
#pragma once
#include <string>
#include <string_view>

#include "core/nn/model.h"

namespace gpubench {

/// Needs a defined model.
std::string architecture_to_json(const Model& model);
/// A model of the same layers under the same names, not yet built. Throws Error saying what is wrong with `json`.
ModelPtr architecture_from_json(std::string_view json, const DeviceId& device);

}  // namespace gpubench
