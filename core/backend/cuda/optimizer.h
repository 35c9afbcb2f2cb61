// Kernels of core/ops/optimizer.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/optimizer.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_sgd_update(const SgdUpdate& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_adam_update(const AdamUpdate& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_rmsprop_update(const RmspropUpdate& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
