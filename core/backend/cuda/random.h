// Kernels of core/ops/random.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/random.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_dropout(const Dropout& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_dropout_gradient(const DropoutGradient& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_random_uniform(const RandomUniform& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_random_normal(const RandomNormal& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
