// Kernels of core/ops/indexing.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/indexing.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_one_hot(const OneHot& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_gather(const Gather& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_gather_gradient(const GatherGradient& op, const Signature& signature, Device& device);

/// In how many parts the blocks that sum a gradient of [rows, columns] share `indices` of them.
std::int64_t gather_gradient_parts(std::int64_t indices, std::int64_t rows, std::int64_t columns, int multiprocessors);

}  // namespace gpubench::cuda
