#include "core/comm/nccl/nccl_functions.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include "core/backend/cuda/status.h"
#include "core/base/error.h"

namespace gpubench::nccl {

std::string version_text(int code) {
  // Up to 2.8 NCCL wrote 2804 for 2.8.4.
  const int minor_at = code < 10000 ? 1000 : 10000;
  return fmt::format("{}.{}.{}", code / minor_at, code % minor_at / 100, code % 100);
}

std::string library_version() {
  int code = 0;
  check(functions().get_version(&code), "ncclGetVersion");
  return version_text(code);
}

std::string name() {
  const std::string library = library_version(), header = version_text(NCCL_VERSION_CODE);
  return library == header ? fmt::format("nccl {}", library) : fmt::format("nccl {} (built for {})", library, header);
}

std::string reason(ncclResult_t status, ncclComm_t comm) {
  const std::string text = functions().get_error_string(status);
  const char* const last = functions().get_last_error(comm);
  return last == nullptr || *last == '\0' ? text : fmt::format("{}: {}", text, last);
}

void check(ncclResult_t status, std::string_view call, ncclComm_t comm) {
  if (status == ncclSuccess || status == ncclInProgress) return;
  if (const cudaError_t fault = cuda::sticky_error(); fault != cudaSuccess) {
    throw DeviceLost("NCCL", call, fmt::format("{} ({})", cudaGetErrorString(fault), cudaGetErrorName(fault)));
  }
  throw DeviceError("NCCL", call, reason(status, comm));
}

}  // namespace gpubench::nccl
