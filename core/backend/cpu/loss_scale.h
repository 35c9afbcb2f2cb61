// Kernels of core/ops/loss_scale.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/loss_scale.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_unscale(const Unscale& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_loss_scale_update(const LossScaleUpdate& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
