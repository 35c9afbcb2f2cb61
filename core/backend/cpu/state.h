// Kernels of core/ops/state.h. The executor gives the variable's memory as the output too.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/state.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_assign(const Assign& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_assign_add(const AssignAdd& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_moving_average(const MovingAverage& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_accumulate_mean(const AccumulateMean& op, const Signature& signature, Device& device);

}  // namespace gpubench::cpu
