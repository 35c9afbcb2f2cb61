// Element-wise quantization by a scale, which is stretched to the tensor as any input of such a kernel.
#pragma once
#include "core/backend/cuda/kernels/elementwise.h"

namespace gpubench::cuda {

/// x float32, scale float32 -> int8
cudaError_t launch_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in);
/// x, scale -> float32
cudaError_t launch_fake_quantize(const LaunchOn& on, const ElementwiseAccess& access, void* out, const void* const* in);
/// dy, x, scale -> float32
cudaError_t launch_fake_quantize_gradient(const LaunchOn& on, const ElementwiseAccess& access, void* out,
                                          const void* const* in);

}  // namespace gpubench::cuda
