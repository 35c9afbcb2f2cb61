// Kernels of core/ops/metric.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/metric.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_sum_and_count(const SumAndCount& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_top_k_matches(const TopKMatches& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_binary_matches(const BinaryMatches& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
