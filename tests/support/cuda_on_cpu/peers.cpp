// CUDA's functions for GPUs that touch each other's memory, on the CPU. Copies between GPUs need no peer access:
// without it they go through the host.
#include <cstring>
#include <set>
#include <utility>

#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"
#include "tests/support/cuda_on_cpu/queue.h"

namespace gpubench::cuda_on_cpu {
namespace {

/// Pairs of a GPU and another whose memory its kernels may touch.
std::set<std::pair<int, int>>& enabled() {
  static auto& pairs = *new std::set<std::pair<int, int>>;
  return pairs;
}

bool is_gpu(int gpu) {
  return gpu >= 0 && gpu < machine().gpus;
}

bool lies_on(const void* memory, std::size_t bytes, int gpu) {
  return is_gpu(gpu) && gpu_that_has(memory) == gpu && gpu_memories().at(gpu).holds(memory, bytes);
}

}  // namespace

bool may_touch(int gpu, int other) {
  return gpu == other || enabled().contains({gpu, other});
}

extern "C" {

cudaError_t cudaDeviceCanAccessPeer(int* can, int gpu, int peer) {
  if (!is_gpu(gpu) || !is_gpu(peer)) return result(cudaErrorInvalidDevice);
  *can = machine().peers && gpu != peer ? 1 : 0;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (flags != 0) return result(cudaErrorInvalidValue);
  if (!is_gpu(peer) || peer == gpu_of_thread()) return result(cudaErrorInvalidDevice);
  if (!machine().peers) return result(cudaErrorPeerAccessUnsupported);
  const bool is_new = enabled().insert({gpu_of_thread(), peer}).second;
  return result(is_new ? cudaSuccess : cudaErrorPeerAccessAlreadyEnabled);
}
cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (!is_gpu(peer)) return result(cudaErrorInvalidDevice);
  run_all_streams();
  return result(enabled().erase({gpu_of_thread(), peer}) == 1 ? cudaSuccess : cudaErrorPeerAccessNotEnabled);
}
cudaError_t cudaMemcpyPeerAsync(void* to, int to_gpu, const void* from, int from_gpu, std::size_t bytes,
                                cudaStream_t stream) {
  {
    const auto lock = lock_streams();
    if (!is_gpu(to_gpu) || !is_gpu(from_gpu)) return result(cudaErrorInvalidDevice);
    if (!lies_on(to, bytes, to_gpu) || !lies_on(from, bytes, from_gpu)) return result(cudaErrorInvalidValue);
  }
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, stream);
}
}

}  // namespace gpubench::cuda_on_cpu
