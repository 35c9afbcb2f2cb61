#include "core/backend/cuda/gpu_context.h"

#include <fmt/format.h>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/status.h"
#include "core/nvidia/gpu_fault.h"

namespace gpubench::cuda {
namespace {

thread_local bool has_selected = false;

DeviceFault fault_of_context(cudaError_t status, int mode, const GpuProperties& properties) {
  const std::string default_mode = fmt::format("nvidia-smi -i {} -c DEFAULT, as root", properties.bus_id);
  if (mode == cudaComputeModeProhibited) {
    return {"its compute mode PROHIBITED lets no process use it", "allow it: " + default_mode};
  }
  const bool exclusive = mode == cudaComputeModeExclusive || mode == cudaComputeModeExclusiveProcess;
  if (status == cudaErrorDevicesUnavailable && exclusive) {
    return {"it is in exclusive mode, and another process holds it",
            "end that process (nvidia-smi shows it), or allow several: " + default_mode};
  }
  if (status == cudaErrorMemoryAllocation) {
    return {"no memory is left on it for the context of this process",
            "end other processes on it (nvidia-smi shows them), or choose another GPU with CUDA_VISIBLE_DEVICES"};
  }
  return fault_of(status);
}

}  // namespace

void make_context(int physical, const GpuProperties& properties) {
  int mode = cudaComputeModeDefault;
  static_cast<void>(cudaDeviceGetAttribute(&mode, cudaDevAttrComputeMode, physical));
  auto status = static_cast<cudaError_t>(properties.error);
  // Also if it is the current GPU: this call makes the context.
  if (status == cudaSuccess && mode != cudaComputeModeProhibited) status = cudaSetDevice(physical);
  if (status == cudaSuccess && mode != cudaComputeModeProhibited) {
    has_selected = true;
    return;
  }
  static_cast<void>(cudaGetLastError());
  DeviceFault fault = fault_of_context(status, mode, properties);
  fault.reason = fmt::format("GPU {} ({}) cannot be used: {}", physical, properties.name, fault.reason);
  throw UnusableDevice(std::move(fault));
}

cudaError_t select_gpu(int physical) {
  int current = 0;
  cudaError_t status = cudaGetDevice(&current);
  if (status == cudaSuccess && current != physical) status = cudaSetDevice(physical);
  if (status == cudaSuccess) has_selected = true;
  return status;
}

void select_gpu_if_none(int physical) noexcept {
  if (!has_selected) static_cast<void>(select_gpu(physical));
}

int current_gpu() {
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  return current;
}

}  // namespace gpubench::cuda
