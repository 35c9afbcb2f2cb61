#include "tests/support/cuda_on_cpu/launch_limits.h"

#include <cstdint>
#include <map>

#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda_on_cpu {
namespace {

constexpr unsigned most_threads = 1024, most_threads_z = 64, most_blocks = 65535, most_blocks_x = 0x7FFFFFFF;
constexpr int shared_bytes = 48 << 10, most_shared_bytes = 227 << 10;

bool is_within(const dim3& size, const dim3& most) {
  return size.x >= 1 && size.y >= 1 && size.z >= 1 && size.x <= most.x && size.y <= most.y && size.z <= most.z;
}

/// By kernel: how much dynamic shared memory cudaFuncSetAttribute() allows it.
std::map<const void*, int>& allowed_bytes() {
  static auto& all = *new std::map<const void*, int>;
  return all;
}

}  // namespace

cudaError_t launch_error(const cudaLaunchConfig_t& config, const void* kernel) {
  const dim3& threads = config.blockDim;
  if (!is_within(config.gridDim, dim3(most_blocks_x, most_blocks, most_blocks)) ||
      !is_within(threads, dim3(most_threads, most_threads, most_threads_z)) ||
      std::uint64_t{threads.x} * threads.y * threads.z > most_threads) {
    return cudaErrorInvalidConfiguration;
  }
  const auto lock = lock_streams();
  const auto allowed = allowed_bytes().find(kernel);
  const int bytes = allowed == allowed_bytes().end() ? shared_bytes : allowed->second;
  return config.dynamicSmemBytes > static_cast<std::size_t>(bytes) ? cudaErrorInvalidValue : cudaSuccess;
}

extern "C" cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value) {
  const auto lock = lock_streams();
  if (attribute != cudaFuncAttributeMaxDynamicSharedMemorySize || value < 0 || value > most_shared_bytes) {
    return result(cudaErrorInvalidValue);
  }
  allowed_bytes()[kernel] = value;
  return result(cudaSuccess);
}

}  // namespace gpubench::cuda_on_cpu
