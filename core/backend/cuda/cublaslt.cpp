#include "core/backend/cuda/cublaslt.h"

#include <fmt/format.h>

#include "core/backend/cuda/status.h"
#include "core/base/error.h"

namespace gpubench::cuda {

void check(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  const cudaError_t fault = cudaGetLastError();
  if (is_sticky(fault)) throw DeviceLost("cuBLASLt", call, cudaGetErrorString(fault));
  throw DeviceError("cuBLASLt", call, cublaslt().get_status_string(status));
}

CublasLtHandle new_cublaslt_handle() {
  cublasLtHandle_t handle = nullptr;
  check(cublaslt().create(&handle), "cublasLtCreate");
  return CublasLtHandle(handle);
}

std::string cublaslt_version() {
  const std::size_t version = cublaslt().get_version();  // 130100 is 13.1.0
  return fmt::format("cuBLASLt {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

}  // namespace gpubench::cuda
