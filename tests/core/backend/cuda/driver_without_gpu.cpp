// A driver without a GPU: cuDNN compiles its engines of attention when it plans them, and gives the code to the driver.
// This one takes every code and runs none; functions that need a GPU fail. The library has the driver's name for the
// loader, so cuDNN finds it where described_gpu.cpp has opened it before. Without cuda.h, whose names have versions
// that cuDNN does not ask for.
namespace {

constexpr int success = 0, no_device = 100;  // CUDA_SUCCESS, CUDA_ERROR_NO_DEVICE

int give(void** handle) {
  static char any;
  *handle = &any;
  return success;
}

int give_zero(int* value) {
  *value = 0;
  return success;
}

}  // namespace

// NOLINTBEGIN(readability-identifier-naming, bugprone-easily-swappable-parameters): the driver's names
extern "C" {

int cuGetErrorName(int, const char** text) {
  *text = "CUDA_ERROR_NO_DEVICE";
  return success;
}
int cuGetErrorString(int, const char** text) {
  *text = "this driver has no GPU";
  return success;
}

int cuLibraryLoadData(void** library) {
  return give(library);
}
int cuLibraryGetKernel(void** kernel) {
  return give(kernel);
}
int cuKernelGetFunction(void** function) {
  return give(function);
}
int cuKernelGetAttribute(int* value) {
  return give_zero(value);
}
int cuFuncGetAttribute(int* value) {
  return give_zero(value);
}
int cuKernelSetAttribute() {
  return success;
}
int cuFuncSetAttribute() {
  return success;
}
int cuLibraryUnload() {
  return success;
}

#define GPUBENCH_NEEDS_A_GPU(name) \
  int name() {                     \
    return no_device;              \
  }
GPUBENCH_NEEDS_A_GPU(cuInit)
GPUBENCH_NEEDS_A_GPU(cuDriverGetVersion)
GPUBENCH_NEEDS_A_GPU(cuDeviceGet)
GPUBENCH_NEEDS_A_GPU(cuDeviceGetCount)
GPUBENCH_NEEDS_A_GPU(cuCtxGetCurrent)
GPUBENCH_NEEDS_A_GPU(cuCtxGetLimit)
GPUBENCH_NEEDS_A_GPU(cuCtxPopCurrent)
GPUBENCH_NEEDS_A_GPU(cuCtxPushCurrent)
GPUBENCH_NEEDS_A_GPU(cuLaunchCooperativeKernel)
GPUBENCH_NEEDS_A_GPU(cuLaunchKernel)
GPUBENCH_NEEDS_A_GPU(cuLaunchKernelEx)
GPUBENCH_NEEDS_A_GPU(cuLibraryLoadFromFile)
GPUBENCH_NEEDS_A_GPU(cuLinkAddData)
GPUBENCH_NEEDS_A_GPU(cuLinkComplete)
GPUBENCH_NEEDS_A_GPU(cuLinkCreate)
GPUBENCH_NEEDS_A_GPU(cuLinkDestroy)
GPUBENCH_NEEDS_A_GPU(cuOccupancyMaxPotentialClusterSize)
GPUBENCH_NEEDS_A_GPU(cuStreamGetCtx)
}
// NOLINTEND(readability-identifier-naming, bugprone-easily-swappable-parameters)
