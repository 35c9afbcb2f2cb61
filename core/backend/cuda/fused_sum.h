// Whether summing a factor in a product's epilogue gains time. The sum alone takes a small part of a large product's
// time, and algorithms that also sum may be slower by more than that (NVIDIA/CUDALibrarySamples#90: 1.6 times).
#pragma once
#include "core/backend/cuda/cuda_device.h"
#include "core/ops/fused_matmul.h"

namespace gpubench::cuda {

/// Products below these flops save a launch, which takes longer than what they could lose.
inline constexpr double fewest_flops_to_time = 1e9;

/// Times the product with the sum in it against a product and a sum behind it (search.h). False where the device has no
/// memory for that, because two kernels are never slower by much.
bool sums_faster(const MatmulBiasGradient& op, const Signature& signature, CudaDevice& device);

}  // namespace gpubench::cuda
