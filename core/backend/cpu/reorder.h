// Conversion from the layouts that this backend's kernels choose back to row-major.
#pragma once
#include <memory>

#include "core/backend/backend.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_reorder(const TensorType& type, const LayoutPtr& from, Device& device);

}  // namespace gpubench::cpu
