// Kernels of core/ops/state.h and core/ops/schedule.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/schedule.h"
#include "core/ops/state.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_assign(const Assign& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_assign_add(const AssignAdd& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_moving_average(const MovingAverage& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_accumulate_mean(const AccumulateMean& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_cosine_decay(const CosineDecay& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_exponential_decay(const ExponentialDecay& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
