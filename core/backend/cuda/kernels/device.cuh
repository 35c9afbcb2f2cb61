// Device functions that replace CUDA's own where the simulated GPU needs it. tests/support/cuda_on_cpu has a file of
// the same path that gives them, and CUDA's keywords, the same meaning on the CPU, so that tests run every kernel
// there.
#pragma once
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "core/math/half.h"

namespace gpubench::cuda {

inline constexpr int warp_size = 32;

/// Combines one value from each thread of a warp; every thread receives the result.
template <class T, class Combine>
__device__ T warp_reduce(T value, Combine combine) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
  }
  return value;
}

__device__ inline float widen(math::Float16 x) {
  return __half2float(__ushort_as_half(x.bits));
}
__device__ inline float widen(math::Bfloat16 x) {
  return __bfloat162float(__ushort_as_bfloat16(x.bits));
}
template <class T>
__device__ T widen(T x) {
  return x;
}

/// Converts a computed value to its stored type; 16-bit types round to nearest even.
template <class T>
struct Narrow {
  __device__ static T from(T x) { return x; }
};
template <>
struct Narrow<math::Float16> {
  __device__ static math::Float16 from(float x) { return {__half_as_ushort(__float2half_rn(x))}; }
};
template <>
struct Narrow<math::Bfloat16> {
  __device__ static math::Bfloat16 from(float x) { return {__bfloat16_as_ushort(__float2bfloat16_rn(x))}; }
};

}  // namespace gpubench::cuda
