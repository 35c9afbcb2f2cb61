// The backend of a program that was built without the CUDA toolkit.
#include "core/backend/cuda/cuda_backend.h"
#include "core/base/error.h"

namespace gpubench {
namespace {

constexpr const char* reason = "this gpubench was built without the CUDA toolkit";

}  // namespace

CudaBackend::CudaBackend(const std::optional<std::vector<GpuDeviceOptions>>& devices) : absence_(reason) {
  if (devices && !devices->empty()) throw Error(std::string("there is no GPU to configure: ") + reason);
}

std::vector<GpuDeviceOptions> CudaBackend::visible() {
  return {};
}

std::optional<int> CudaBackend::physical(const Device&) {
  return std::nullopt;
}

std::string CudaBackend::library() const {
  return reason;
}

bool CudaBackend::fuses(const Op&, const Signature&, Device&) const {
  return false;
}

std::unique_ptr<Kernel> CudaBackend::plan(const Op&, const Signature&, Device&) const {
  throw Error(reason);
}

}  // namespace gpubench
