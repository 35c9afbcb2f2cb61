// The backend of a program that was built without the CUDA toolkit.
#include "core/backend/cuda/cuda_backend.h"
#include "core/base/error.h"
#include "core/device/device.h"
#include "core/trace/timeline.h"

namespace gpubench {
namespace {

constexpr const char* reason = "this gpubench was built without the CUDA toolkit";

}  // namespace

CudaBackend::CudaBackend(const BackendConfig& config)
    : absence_(DeviceFault{reason, "build it with the CUDA toolkit 13.0 or later (docs/gpus.md)"}) {
  if (config.devices && !config.devices->empty()) throw Error(std::string("there is no GPU to configure: ") + reason);
}

int CudaBackend::cuda_version() {
  return 0;
}

int CudaBackend::driver_cuda_version() {
  return 0;
}

std::vector<LogicalDevice> CudaBackend::physical_devices() {
  return {};
}

bool CudaBackend::rounds_float32() const {
  return false;
}

std::string CudaBackend::library() const {
  return reason;
}

bool CudaBackend::fuses(const Op&, const Signature&, Device&) const {
  return false;
}

std::unique_ptr<Tracer> CudaBackend::new_tracer() const {
  return nullptr;
}

std::unique_ptr<Kernel> CudaBackend::plan(const Op&, const Signature&, Device&) const {
  throw Error(reason);
}

}  // namespace gpubench
