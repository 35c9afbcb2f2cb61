#include "core/backend/cuda/status.h"

#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench::cuda {

bool is_sticky(cudaError_t status) {
  switch (status) {
    case cudaErrorIllegalAddress:
    case cudaErrorIllegalInstruction:
    case cudaErrorMisalignedAddress:
    case cudaErrorInvalidAddressSpace:
    case cudaErrorInvalidPc:
    case cudaErrorHardwareStackError:
    case cudaErrorLaunchFailure:
    case cudaErrorLaunchTimeout:
    case cudaErrorAssert:
    case cudaErrorECCUncorrectable:
    case cudaErrorNvlinkUncorrectable:
    case cudaErrorContained:
    case cudaErrorTensorMemoryLeak:
    case cudaErrorMpsClientTerminated:
    case cudaErrorExternalDevice:
    case cudaErrorUnknown:
      return true;
    default:
      return false;
  }
}

void check(cudaError_t status, std::string_view call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // an error that is not sticky must not be found by the next call
  const std::string reason = fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status));
  if (is_sticky(status)) throw DeviceLost("CUDA", call, reason);
  throw DeviceError("CUDA", call, reason);
}

void refuse(const Op& op, std::string_view reason) {
  throw Error(fmt::format("cuda: {}: {}", op.name(), reason));
}

void require_floating(const Op& op, const TensorType& type) {
  if (is_floating(type.dtype)) return;
  refuse(op, fmt::format("{} is not supported; float32, float16 and bfloat16 are", to_string(type.dtype)));
}

}  // namespace gpubench::cuda
