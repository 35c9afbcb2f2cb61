// Kernels of core/ops/binary.h, and AddN.
#pragma once
#include <memory>

#include "core/backend/kernel_table.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/binary.h"

namespace gpubench::cpu {

/// A row for every op of arithmetic, comparisons and logic.
void add_binary(KernelTable& table);
std::unique_ptr<Kernel> plan_select(const Select& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_add_n(const AddN& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
