// The yardstick of a model's rates.
#pragma once
#include <optional>

#include "core/nn/model.h"
#include "lua/api/session.h"

namespace gpubench::lua {

/// The best matrix products, in the model's type, of all devices that its layers are on, together; none where a model
/// mixes types, and where a device has no memory left to measure its own.
std::optional<double> best_flops_per_s(Session& session, const Model& model);

}  // namespace gpubench::lua
