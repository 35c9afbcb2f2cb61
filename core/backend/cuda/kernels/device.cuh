// Device functions that replace CUDA's own where the simulated GPU needs it. tests/support/cuda_on_cpu has a file of
// the same path that gives them, and CUDA's keywords, the same meaning on the CPU, so that tests run every kernel
// there.
#pragma once
#include <array>
#include <atomic>
#include <cstdint>
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

/// 8 or 16 bytes of aligned memory in one instruction, whatever they hold: a struct of 16-bit members would be moved
/// member by member.
template <int bytes>
struct alignas(bytes) Bits {
  std::uint32_t words[bytes / 4];
};
__device__ inline void load_bits(const void* from, Bits<8>& bits) {
  const uint2 words = *static_cast<const uint2*>(from);
  bits = {{words.x, words.y}};
}
__device__ inline void load_bits(const void* from, Bits<16>& bits) {
  const uint4 words = *static_cast<const uint4*>(from);
  bits = {{words.x, words.y, words.z, words.w}};
}
/// In PTX, for the compiler may store words that are put together from 16-bit members by members.
__device__ inline void store_bits(void* to, const Bits<8>& bits) {
  asm volatile("st.global.v2.u32 [%0], {%1, %2};"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(bits.words[0]), "r"(bits.words[1])
               : "memory");
}
__device__ inline void store_bits(void* to, const Bits<16>& bits) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};"
               :
               : "l"(__cvta_generic_to_global(to)), "r"(bits.words[0]), "r"(bits.words[1]), "r"(bits.words[2]),
                 "r"(bits.words[3])
               : "memory");
}

/// How many blocks of the kernel a multiprocessor of the calling thread's GPU holds at once; asked once of each GPU.
template <auto kernel, int threads>
int resident_blocks() {
  constexpr int gpus_known = 64;
  static std::array<std::atomic<int>, gpus_known> known{};
  int gpu = 0, blocks = 0;
  const bool keeps = cudaGetDevice(&gpu) == cudaSuccess && gpu < gpus_known;
  if (keeps) blocks = known[static_cast<std::size_t>(gpu)].load(std::memory_order_relaxed);
  if (blocks > 0) return blocks;
  const cudaError_t status = cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, threads, 0);
  if (status != cudaSuccess || blocks < 1) blocks = 1;
  if (keeps) known[static_cast<std::size_t>(gpu)].store(blocks, std::memory_order_relaxed);
  return blocks;
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
