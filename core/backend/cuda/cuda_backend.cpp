#include "core/backend/cuda/cuda_backend.h"

#include <algorithm>
#include <cstdlib>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <optional>
#include <string>

#include "core/backend/cuda/cuda_device.h"
#include "core/backend/cuda/cuda_kernels.h"
#include "core/backend/cuda/cudnn.h"
#include "core/backend/cuda/status.h"
#include "core/base/error.h"
#include "core/nvidia/gpu_fault.h"
#include "core/ops/batch_norm.h"
#include "core/ops/cast.h"
#include "core/telemetry/cupti/activity_tracer.h"
#include "core/trace/timeline.h"

namespace gpubench {
namespace {

std::optional<std::string> visible_devices() {
  const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return visible == nullptr ? std::nullopt : std::optional<std::string>(visible);
}

/// The driver works, and shows no GPU.
DeviceFault no_device() {
  const std::optional<std::string> visible = visible_devices();
  if (auto hidden = hidden_gpus(visible)) return *std::move(hidden);
  if (visible) {
    return {fmt::format("CUDA_VISIBLE_DEVICES={} names no GPU of this machine", *visible),
            "unset CUDA_VISIBLE_DEVICES, or name GPUs that nvidia-smi -L lists"};
  }
  const std::string reason = "the NVIDIA driver finds no GPU";
  if (const auto fault = node_fault()) return {reason + ": " + fault->reason, fault->remedy};
  return {reason, "look at nvidia-smi, and for NVRM in the kernel's messages: dmesg"};
}

DeviceFault insufficient_driver() {
  if (auto old = old_driver(CudaBackend::driver_cuda_version(), CudaBackend::cuda_version())) return *std::move(old);
  if (auto fault = driver_fault()) return *std::move(fault);
  return {"the NVIDIA driver's library libcuda.so.1 cannot be opened",
          "install the libraries of the driver's version; in a container, use the NVIDIA runtime"};
}

/// GPUs that CUDA sees; with none, `fault` says why.
int count_gpus(std::optional<DeviceFault>& fault) {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  static_cast<void>(cudaGetLastError());
  if (status == cudaErrorInsufficientDriver) {
    fault = insufficient_driver();
  } else if (status == cudaSuccess || status == cudaErrorNoDevice) {
    fault = no_device();
  } else {
    fault = cuda::fault_of(status);
    fault->reason = "the NVIDIA driver cannot be used: " + fault->reason;
  }
  return 0;
}

/// Whether NVIDIA's libraries ignore that TF32 is allowed.
bool environment_forbids_tf32() {
  const char* const forbids = std::getenv("NVIDIA_TF32_OVERRIDE");
  return forbids != nullptr && *forbids == '0';
}

bool allow_tf32(std::span<const std::unique_ptr<Device>> devices) {
  return std::ranges::any_of(devices, [](const auto& one) { return cuda::cuda_device(*one).allows_tf32(); });
}

std::string cudnn_text() {
  try {
    return "cuDNN " + cuda::cudnn_version();
  } catch (const Error&) {  // the ops that need it will say so
    return "no cuDNN";
  }
}

/// Which products are timed, for the description of the backend.
std::string search_text(const std::vector<std::unique_ptr<Device>>& devices) {
  for (const auto& device : devices) {
    const std::optional<int> search = cuda::cuda_device(*device).matmul_search();
    if (!search) return fmt::format(", products below 1 GFLOP searched among {}", default_matmul_search);
    if (*search > 1) return fmt::format(", products searched among {}", *search);
  }
  return {};
}

}  // namespace

int CudaBackend::cuda_version() {
  int runtime = 0;
  return cudaRuntimeGetVersion(&runtime) == cudaSuccess ? runtime : 0;
}

int CudaBackend::driver_cuda_version() {
  int driver = 0;
  return cudaDriverGetVersion(&driver) == cudaSuccess ? driver : 0;
}

std::vector<LogicalDevice> CudaBackend::physical_devices() {
  std::optional<DeviceFault> fault;
  const int count = count_gpus(fault);
  std::vector<LogicalDevice> gpus;
  for (int physical = 0; physical < count; ++physical) gpus.push_back({.physical = physical, .named = false});
  return gpus;
}

CudaBackend::CudaBackend(const BackendConfig& config) {
  const auto& asked = config.devices;
  const int count = count_gpus(absence_);
  if (asked && asked->empty()) {
    if (count > 0) {
      absence_ = {"the script hides all GPUs (gb.config.set_visible_devices)",
                  "name GPUs in that call, or leave it out"};
    }
    return;
  }
  const CudaOptions options = config.own<CudaOptions>();
  for (const LogicalDevice& share : asked ? *asked : physical_devices()) {
    if (share.physical < 0 || share.physical >= count) {
      throw Error(count == 0 ? fmt::format("there is no GPU {}: {}", share.physical, to_string(absence_))
                             : fmt::format("there is no GPU {}; there {} {}", share.physical, count == 1 ? "is" : "are",
                                           count));
    }
    const DeviceId id{DeviceId::Kind::gpu, static_cast<std::int16_t>(devices_.size()), {}};
    devices_.push_back(std::make_unique<cuda::CudaDevice>(id, share, options));
  }
}

std::unique_ptr<Tracer> CudaBackend::new_tracer() const {
  return std::make_unique<ActivityTracer>();
}

bool CudaBackend::rounds_float32() const {
  return allow_tf32(devices_) && !environment_forbids_tf32();
}

std::string CudaBackend::library() const {
  const char* const float32 = rounds_float32()       ? "as TF32"
                              : allow_tf32(devices_) ? "strict (NVIDIA_TF32_OVERRIDE=0)"
                                                     : "strict";
  return fmt::format("CUDA {}, driver for CUDA {}, {}, float32 {}{}", cuda_text(cuda_version()),
                     cuda_text(driver_cuda_version()), cudnn_text(), float32, search_text(devices_));
}

bool CudaBackend::fuses(const Op& op, const Signature& signature, Device& device) const {
  return dynamic_cast<const CastAll*>(&op) != nullptr || is_fused_batch_norm(op) ||
         cuda::fuses_matmul(op, signature, device) || cuda::fuses_metrics(op, signature) ||
         cuda::reads_turned_filter(op, signature);
}

std::unique_ptr<Kernel> CudaBackend::plan(const Op& op, const Signature& signature, Device& device) const {
  return cuda::plan_kernel(op, signature, device);
}

}  // namespace gpubench
