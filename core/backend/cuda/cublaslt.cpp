#include "core/backend/cuda/cublaslt.h"

#include "core/backend/cuda/status.h"
#include "core/base/error.h"

namespace gpubench::cuda {

void check(cublasStatus_t status, std::string_view call) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  if (const cudaError_t fault = sticky_error(); fault != cudaSuccess)
    throw DeviceLost("cuBLASLt", call, cudaGetErrorString(fault));
  throw DeviceError("cuBLASLt", call, cublaslt().get_status_string(status));
}

CublasLtHandle new_cublaslt_handle() {
  cublasLtHandle_t handle = nullptr;
  check(cublaslt().create(&handle), "cublasLtCreate");
  return CublasLtHandle(handle);
}

}  // namespace gpubench::cuda
