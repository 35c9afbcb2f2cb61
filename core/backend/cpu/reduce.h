// Kernels of core/ops/reduce.h. Sums are added in an order that depends on the shape and the number of threads alone.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/reduce.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_reduce_sum(const ReduceSum& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reduce_mean(const ReduceMean& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reduce_max(const ReduceMax& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_reduce_min(const ReduceMin& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_arg_max(const ArgMax& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
