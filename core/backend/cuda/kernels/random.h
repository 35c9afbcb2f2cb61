// Random numbers of core/math/philox.h, the same as the CPU's. The step is read from device memory, so that a replayed
// CUDA graph draws new numbers in every step.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

/// What is drawn: the key, the device address of the steps (one for each part), the elements per part, and the index of
/// the first element.
struct Draw {
  std::uint64_t seed = 0;
  const std::int64_t* steps = nullptr;
  std::int64_t parts = 0;
  std::int64_t elements = 0;
  std::int64_t first = 0;
};

/// y = x * scale where an element's random word is at least the threshold, else 0; y may be x.
cudaError_t launch_dropout(const LaunchOn& on, const Draw& draw, std::uint32_t threshold, float scale, Dtype type,
                           const void* x, void* y);
cudaError_t launch_random_uniform(const LaunchOn& on, const Draw& draw, float low, float range, float* out);
cudaError_t launch_random_normal(const LaunchOn& on, const Draw& draw, float mean, float stddev, float* out);

}  // namespace gpubench::cuda
