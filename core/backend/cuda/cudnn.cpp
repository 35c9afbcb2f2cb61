#include "core/backend/cuda/cudnn.h"

#include <array>
#include <fmt/format.h>

#include "core/backend/cuda/status.h"
#include "core/base/error.h"
#include "core/nvidia/gpu_library.h"

namespace gpubench::cuda {

std::string cudnn_version() {
  const std::size_t version = cudnn().get_version();  // 91900 is 9.19.0
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string cudnn_reason(cudnnStatus_t status) {
  std::array<char, 1024> text{};
  cudnn().get_last_error_string(text.data(), text.size());
  const std::string name = cudnn().get_error_string(status);
  const bool by_parts = status == CUDNN_STATUS_SUBLIBRARY_VERSION_MISMATCH ||
                        status == CUDNN_STATUS_SUBLIBRARY_LOADING_FAILED ||
                        status == CUDNN_STATUS_NOT_SUPPORTED_SUBLIBRARY_UNAVAILABLE;
  const std::string remedy = by_parts ? fmt::format("; {}", cudnn_library.remedy) : std::string();
  return text[0] == '\0' ? name + remedy : fmt::format("{}: {}{}", name, text.data(), remedy);
}

void check(cudnnStatus_t status, std::string_view call) {
  if (status == CUDNN_STATUS_SUCCESS) return;
  const std::string reason = cudnn_reason(status);
  if (sticky_error() != cudaSuccess) throw DeviceLost("cuDNN", call, reason);
  throw DeviceError("cuDNN", call, reason);
}

CudnnHandle::CudnnHandle() {
  check(cudnn().create(&handle_), "cudnnCreate");
}

CudnnHandle::~CudnnHandle() {
  static_cast<void>(cudnn().destroy(handle_));
}

cudnnDataType_t cudnn_type(Dtype dtype) {
  if (dtype == Dtype::f16) return CUDNN_DATA_HALF;
  if (dtype == Dtype::bf16) return CUDNN_DATA_BFLOAT16;
  return CUDNN_DATA_FLOAT;
}

}  // namespace gpubench::cuda
