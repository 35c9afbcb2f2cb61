// Stands for the file of this path when tests compile kernels for the CPU: CUDA's words with the same meaning there.
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <cuda_runtime_api.h>
#include <tuple>
#include <type_traits>

#include "core/math/half.h"
#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/launch_limits.h"
#include "tests/support/cuda_on_cpu/queue.h"

// One block runs at a time, so what its threads share is what is static.
#undef __shared__
#define __shared__ static
#undef __launch_bounds__
#define __launch_bounds__(...)

inline const uint3& threadIdx = gpubench::cuda_on_cpu::now.thread;
inline const uint3& blockIdx = gpubench::cuda_on_cpu::now.block;
inline const dim3& blockDim = gpubench::cuda_on_cpu::now.threads;
inline const dim3& gridDim = gpubench::cuda_on_cpu::now.blocks;

inline void __syncthreads() {
  ::gpubench::cuda_on_cpu::wait_for_block();
}
inline void __syncwarp(unsigned lanes = 0xFFFFFFFFU) {
  ::gpubench::cuda_on_cpu::meet({::gpubench::cuda_on_cpu::Meeting::Kind::sync, lanes}, {});
}
template <class T>
T __shfl_xor_sync(unsigned lanes, T value, int distance) {
  return ::gpubench::cuda_on_cpu::exchange(lanes, value, ::gpubench::cuda_on_cpu::lane() ^ distance);
}
template <class T>
T __shfl_down_sync(unsigned lanes, T value, int distance) {
  const int lane = ::gpubench::cuda_on_cpu::lane();
  return ::gpubench::cuda_on_cpu::exchange(lanes, value, lane + distance < 32 ? lane + distance : lane);
}
template <class T>
T __shfl_sync(unsigned lanes, T value, int from) {
  return ::gpubench::cuda_on_cpu::exchange(lanes, value, from & 31);
}
inline unsigned __ballot_sync(unsigned lanes, bool mine) {
  ::gpubench::cuda_on_cpu::Warp::Value given{};
  given[0] = std::byte{mine};
  const auto taken = ::gpubench::cuda_on_cpu::meet({::gpubench::cuda_on_cpu::Meeting::Kind::ballot, lanes}, given);
  unsigned result = 0;
  std::memcpy(&result, taken.data(), sizeof result);
  return result;
}
inline int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<unsigned>(bits)) + 1;
}

namespace gpubench::cuda_on_cpu {

template <class... Parameters>
struct KernelCall {
  void (*kernel)(Parameters...);
  std::tuple<Parameters...> arguments;

  static void run(const void* self) {
    const auto& call = *static_cast<const KernelCall*>(self);
    std::apply(call.kernel, call.arguments);
  }
  void check_pointers() const {
    const auto check = [this](const auto& argument) {
      if constexpr (std::is_pointer_v<std::decay_t<decltype(argument)>>) {
        check_pointer(reinterpret_cast<const void*>(kernel), argument);
      }
    };
    std::apply([&](const auto&... all) { (check(all), ...); }, arguments);
  }
};

}  // namespace gpubench::cuda_on_cpu

template <class... Parameters, class... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               Arguments&&... arguments) {
  using Call = gpubench::cuda_on_cpu::KernelCall<Parameters...>;
  const gpubench::cuda_on_cpu::Grid grid{config->gridDim, config->blockDim};
  const cudaError_t beyond = gpubench::cuda_on_cpu::launch_error(*config, reinterpret_cast<const void*>(kernel));
  if (beyond != cudaSuccess) return gpubench::cuda_on_cpu::result(beyond);
  const cudaError_t loaded = gpubench::cuda_on_cpu::load_kernel(reinterpret_cast<const void*>(kernel));
  if (loaded != cudaSuccess) return loaded;
  return gpubench::cuda_on_cpu::queue(
      config->stream, [grid, call = Call{kernel, std::tuple<Parameters...>(arguments...)}] {
        call.check_pointers();
        const auto function = reinterpret_cast<const void*>(call.kernel);
        gpubench::cuda_on_cpu::run_grid(grid, {function, &call, sizeof call, &Call::run});
      });
}

namespace gpubench::cuda {

inline constexpr int warp_size = 32;

template <class T, class Combine>
T warp_reduce(T value, Combine combine) {
  for (int distance = warp_size / 2; distance > 0; distance /= 2) {
    value = combine(value, __shfl_xor_sync(0xFFFFFFFFU, value, distance));
  }
  return value;
}

inline float widen(math::Float16 x) {
  return math::to_float(x);
}
inline float widen(math::Bfloat16 x) {
  return math::to_float(x);
}
template <class T>
T widen(T x) {
  return x;
}

template <int bytes>
struct alignas(bytes) Bits {
  std::uint32_t words[bytes / 4];
};
template <int bytes>
void load_bits(const void* from, Bits<bytes>& bits) {
  ::gpubench::cuda_on_cpu::check_alignment(from, bytes);
  ::gpubench::cuda_on_cpu::check_load(from, bytes);
  std::memcpy(&bits, from, bytes);
}
template <int bytes>
void store_bits(void* to, const Bits<bytes>& bits) {
  ::gpubench::cuda_on_cpu::check_alignment(to, bytes);
  ::gpubench::cuda_on_cpu::check_store(to, bytes);
  std::memcpy(to, &bits, bytes);
}

template <auto, int>
int resident_blocks() {
  return 8;
}

template <class T>
struct Narrow {
  static T from(T x) { return x; }
};
template <>
struct Narrow<math::Float16> {
  static math::Float16 from(float x) { return math::to_float16(x); }
};
template <>
struct Narrow<math::Bfloat16> {
  static math::Bfloat16 from(float x) { return math::to_bfloat16(x); }
};

}  // namespace gpubench::cuda
