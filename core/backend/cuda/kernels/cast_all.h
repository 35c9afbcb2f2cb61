// Casts of many tensors in few launches: one for every `cast_capacity` of them.
#pragma once
#include <cstdint>

#include "core/backend/cuda/kernels/launch.h"
#include "core/tensor/dtype.h"

namespace gpubench::cuda {

inline constexpr int cast_capacity = 64;

struct CastTensors {
  int count = 0;
  Dtype type = Dtype::bf16;  ///< of the results: float16 or bfloat16
  std::int64_t elements[cast_capacity] = {};
  const float* from[cast_capacity] = {};
  void* to[cast_capacity] = {};
};

cudaError_t launch_cast_all(const LaunchOn& on, const CastTensors& tensors);

}  // namespace gpubench::cuda
