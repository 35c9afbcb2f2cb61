// Kernels of core/ops/binary.h, and AddN.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/graph/leaf_ops.h"
#include "core/ops/binary.h"

namespace gpubench::cuda {

/// For arithmetic, comparisons and logic; binary.cpp says which function each op applies.
template <class O>
std::unique_ptr<Kernel> plan_binary(const O& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_select(const Select& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_add_n(const AddN& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
