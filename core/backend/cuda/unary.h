// Kernels of core/ops/unary.h, and casts.
#pragma once
#include <memory>

#include "core/backend/kernel_table.h"
#include "core/ops/cast.h"

namespace gpubench::cuda {

/// A row for every function of one number, and for the gradients of activations.
void add_unary(KernelTable& table);
std::unique_ptr<Kernel> plan_cast(const Cast& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
