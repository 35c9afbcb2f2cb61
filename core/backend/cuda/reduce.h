// Kernels of core/ops/reduce.h, and of other ops that sum over dimensions.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/backend/cuda/kernels/reduce.h"
#include "core/backend/reduce_passes.h"
#include "core/ops/reduce.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_reduce_sum(const ReduceSum& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reduce_mean(const ReduceMean& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reduce_max(const ReduceMax& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reduce_min(const ReduceMin& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_arg_max(const ArgMax& op, const Signature& signature, Device& device);

/// Reduces the op's only input to its only output.
std::unique_ptr<Kernel> plan_passes(const Op& op, const Signature& signature, Device& device, Reduction reduction,
                                    const std::vector<ReducePass>& passes, double scale = 1);

}  // namespace gpubench::cuda
