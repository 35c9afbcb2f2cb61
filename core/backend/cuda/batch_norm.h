// Kernels of core/ops/batch_norm.h.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/batch_norm.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_batch_norm(const BatchNorm& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_batch_norm_gradient(const BatchNormGradient& op, const Signature& signature,
                                                 Device& device);
std::unique_ptr<Kernel> plan_batch_norm_inference(const BatchNormInference& op, const Signature& signature,
                                                  Device& device);
std::unique_ptr<Kernel> plan_batch_norm_inference_gradient(const BatchNormInferenceGradient& op,
                                                           const Signature& signature, Device& device);

}  // namespace gpubench::cuda
