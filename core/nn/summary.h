// A model as a table: layers, shapes, parameter counts.
#pragma once
#include <string>

#include "core/nn/model.h"

namespace gpubench {

/// Needs a built model; throws Error otherwise.
std::string summary(const Model& model);

}  // namespace gpubench
