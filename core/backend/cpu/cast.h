// Kernel of core/ops/cast.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/cast.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
