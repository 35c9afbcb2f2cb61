// Kernels of core/ops/quantized_linear.h and of the packing of their weights.
#pragma once
#include <memory>

#include "core/backend/backend.h"
#include "core/ops/pack_weights.h"
#include "core/ops/quantized_linear.h"

namespace gpubench::cuda {

std::unique_ptr<Kernel> plan_quantized_matmul(const QuantizedMatmul& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_quantized_conv2d(const QuantizedConv2D& op, const Signature& signature, Device& device);
std::unique_ptr<Kernel> plan_pack_weights(const PackWeights& op, const Signature& signature, Device& device);

}  // namespace gpubench::cuda
