// Kernels of core/ops/quantize.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/quantize.h"

namespace gpubench::cpu {

std::unique_ptr<Kernel> plan_quantize(const Quantize& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_fake_quantize(const FakeQuantize& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_fake_quantize_gradient(const FakeQuantizeGradient& op, const Signature& signature,
                                                    Device& device);

}  // namespace gpubench::cpu
