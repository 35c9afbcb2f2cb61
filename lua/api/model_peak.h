// The reference for a model's arithmetic rates.
#pragma once
#include <optional>

#include "core/nn/model.h"
#include "lua/api/session.h"

namespace gpubench::lua {

/// The best matrix product rate in the model's type, summed over the devices of its layers. None if the model mixes
/// types, or a device lacks the memory to measure it.
std::optional<double> best_flops_per_s(Session& session, const Model& model);

}  // namespace gpubench::lua
