// The reference for a model's arithmetic rates and memory traffic.
#pragma once
#include "core/experiment/training/training.h"
#include "core/nn/model.h"
#include "lua/api/session.h"

namespace gpubench::lua {

/// Summed over the devices of the model's layers. No flops_per_s if the model mixes types, or a device lacks the memory
/// to measure it. No bytes_per_s for a device in host memory whose copies were not measured yet (gb.measure.copies):
/// that would take more memory from the host than a small model needs.
BestRates best_rates(Session& session, const Model& model);

}  // namespace gpubench::lua
