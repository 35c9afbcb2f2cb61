// Kernels of core/ops/unary.h.
#pragma once
#include "core/backend/kernel_table.h"

namespace gpubench::cpu {

/// A row for every function of one number, and for the gradients of activations.
void add_unary(KernelTable& table);

}  // namespace gpubench::cpu
