#include "core/backend/cuda/status.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string>

#include "core/base/error.h"

namespace gpubench::cuda {
namespace {

/// Errors whose cause lies in the machine or in how the program was built; CUDA's own texts name no remedy.
struct KnownError {
  cudaError_t status;
  std::string_view reason, remedy;
};

constexpr std::array known_errors = {
    KnownError{cudaErrorDevicesUnavailable, "it is busy or unavailable",
               "end the process that holds it (nvidia-smi shows it), or choose another GPU with CUDA_VISIBLE_DEVICES"},
    KnownError{cudaErrorECCUncorrectable, "its memory has uncorrected errors",
               "reset it (nvidia-smi --gpu-reset, as root); if they come again, replace the card"},
    KnownError{cudaErrorSystemNotReady, "the service that connects the GPUs over NVSwitch is not running",
               "start it: systemctl start nvidia-fabricmanager, as root"},
    KnownError{cudaErrorSystemDriverMismatch, "the driver's module and its libraries are of two versions",
               "restart the machine, or load the module anew: rmmod nvidia_uvm nvidia; modprobe nvidia"},
    KnownError{cudaErrorCompatNotSupportedOnDevice, "CUDA's compatibility package does not support this GPU",
               "remove the folder of cuda-compat from LD_LIBRARY_PATH, and install a newer driver"},
    KnownError{cudaErrorMpsConnectionFailed, "the control daemon of MPS does not answer",
               "start it (nvidia-cuda-mps-control -d), or unset CUDA_MPS_PIPE_DIRECTORY"},
    KnownError{cudaErrorNoKernelImageForDevice, "this program has no kernels for a GPU of its compute capability",
               "build it with -DGPUBENCH_CUDA_ARCHITECTURES=all-major, or take the bundle"},
    KnownError{cudaErrorUnsupportedPtxVersion, "the driver is older than the CUDA toolkit that compiled the kernels",
               "install a newer driver, or build with -DGPUBENCH_CUDA_ARCHITECTURES for this GPU"},
    KnownError{cudaErrorJitCompilerNotFound, "the driver's compiler libnvidia-ptxjitcompiler.so.1 is missing",
               "install it; in a container, set NVIDIA_DRIVER_CAPABILITIES=compute,utility"},
};

/// nullptr if the error says enough itself.
const KnownError* find_known(cudaError_t status) {
  const auto* const found = std::ranges::find(known_errors, status, &KnownError::status);
  return found == known_errors.end() ? nullptr : found;
}

}  // namespace

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

cudaError_t sticky_error() {
  // The driver answers each such call with the fault. This one is allowed during a capture, and changes nothing.
  std::size_t free = 0, total = 0;
  const cudaError_t status = cudaMemGetInfo(&free, &total);
  static_cast<void>(cudaGetLastError());
  return is_sticky(status) ? status : cudaSuccess;
}

void check(cudaError_t status, std::string_view call) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());  // an error that is not sticky must not be found by the next call
  const KnownError* const known = find_known(status);
  const std::string reason = fmt::format("{} ({}){}", cudaGetErrorString(status), cudaGetErrorName(status),
                                         known == nullptr ? "" : fmt::format(": {}; {}", known->reason, known->remedy));
  if (is_sticky(status)) throw DeviceLost("CUDA", call, reason);
  throw DeviceError("CUDA", call, reason);
}

DeviceFault fault_of(cudaError_t status) {
  const KnownError* const known = find_known(status);
  if (known != nullptr) {
    return {fmt::format("{} ({})", known->reason, cudaGetErrorName(status)), std::string(known->remedy)};
  }
  return {fmt::format("{} ({})", cudaGetErrorString(status), cudaGetErrorName(status)),
          "look at nvidia-smi, and for NVRM in the kernel's messages: dmesg"};
}

void refuse(const Op& op, std::string_view reason) {
  throw Error(fmt::format("cuda: {}: {}", op.name(), reason));
}

void require_floating(const Op& op, const TensorType& type) {
  if (is_floating(type.dtype)) return;
  refuse(op, fmt::format("{} is not supported; float32, float16 and bfloat16 are", to_string(type.dtype)));
}

}  // namespace gpubench::cuda
