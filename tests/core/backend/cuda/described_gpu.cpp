#include "tests/core/backend/cuda/described_gpu.h"

#include <array>
#include <dlfcn.h>
#include <fmt/format.h>
#include <optional>
#include <string_view>

#include "core/base/error.h"
#include "core/base/shared_library.h"
#include "tests/support/cuda_on_cpu/dnn_library.h"

namespace gpubench::cuda {
namespace {

const SharedLibrary& library() {
  constexpr std::array<std::string_view, 1> names{"libcudnn.so.9"};
  static const SharedLibrary opened(names, cuda_library_folders(python_package_folders()));
  return opened;
}

decltype(&cudnnBackendSetAttribute) set_attribute = nullptr;
/// The GPU that plans are for; nullptr outside of PlanningFor.
cudnnBackendDescriptor_t described = nullptr;

/// Plans name the described GPU where they would name a handle, which cannot be made without a GPU.
cudnnStatus_t set_described(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
                            cudnnBackendAttributeType_t type, std::int64_t count, const void* values) {
  if (name == CUDNN_ATTR_OPERATIONGRAPH_HANDLE) return CUDNN_STATUS_SUCCESS;
  if (name == CUDNN_ATTR_EXECUTION_PLAN_HANDLE) {
    return set_attribute(descriptor, CUDNN_ATTR_EXECUTION_PLAN_DEVICEPROP, CUDNN_TYPE_BACKEND_DESCRIPTOR, 1,
                         static_cast<const void*>(&described));
  }
  if (name == CUDNN_ATTR_ENGINEHEUR_MODE) {
    const cudnnStatus_t status = set_attribute(descriptor, CUDNN_ATTR_ENGINEHEUR_DEVICEPROP,
                                               CUDNN_TYPE_BACKEND_DESCRIPTOR, 1, static_cast<const void*>(&described));
    if (status != CUDNN_STATUS_SUCCESS) return status;
  }
  return set_attribute(descriptor, name, type, count, values);
}

CudnnFunctions bind() {
  CudnnFunctions to{};
  const SharedLibrary& from = library();
  from.bind(to.get_version, "cudnnGetVersion");
  from.bind(to.get_error_string, "cudnnGetErrorString");
  from.bind(to.get_last_error_string, "cudnnGetLastErrorString");
  from.bind(to.backend_create_descriptor, "cudnnBackendCreateDescriptor");
  from.bind(to.backend_destroy_descriptor, "cudnnBackendDestroyDescriptor");
  from.bind(to.backend_get_attribute, "cudnnBackendGetAttribute");
  from.bind(to.backend_finalize, "cudnnBackendFinalize");
  from.bind(set_attribute, "cudnnBackendSetAttribute");
  to.backend_set_attribute = &set_described;
  to.create = [](cudnnHandle_t* handle) {
    *handle = nullptr;
    return CUDNN_STATUS_SUCCESS;
  };
  to.destroy = [](cudnnHandle_t) { return CUDNN_STATUS_SUCCESS; };
  to.set_stream = [](cudnnHandle_t, cudaStream_t) { return CUDNN_STATUS_SUCCESS; };
  to.backend_execute = [](cudnnHandle_t, cudnnBackendDescriptor_t, cudnnBackendDescriptor_t) {
    return CUDNN_STATUS_SUCCESS;
  };
  return to;
}

const CudnnFunctions& installed() {
  static const CudnnFunctions functions = bind();
  return functions;
}

/// In the words of cuDNN's serialized device properties.
std::string description(const DescribedGpu& gpu) {
  return fmt::format(
      R"({{"deviceVer":{},"driverVer":13000,"runtimeVer":13000,"cudaDeviceId":0,"deviceId":0,"totalGlobalMem":{},)"
      R"("maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],"regsPerBlock":65536,)"
      R"("multiProcessorCount":{},"warpSize":32,"maxSharedMemoryPerBlock":49152,"maxSharedMemoryPerBlockOptin":{},)"
      R"("reservedSharedMemoryPerBlock":{},"maxRegistersPerSM":65536,"maxCtasPerSM":{},"maxThreadsPerBlock":1024,)"
      R"("maxThreadsPerSM":{},"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"smClockRateKHz":{},)"
      R"("memClockRateKHz":{},"l2CacheSize":{},"deviceName":"{}"}})",
      gpu.compute_capability, gpu.memory_bytes(), gpu.multiprocessors, gpu.shared_memory_bytes,
      gpu.compute_capability < 800 ? 0 : 1024, gpu.blocks, gpu.threads, gpu.clock_mhz * 1000,
      gpu.memory_clock_mhz * 1000, gpu.cache_megabytes << 20, gpu.name);
}

}  // namespace

std::vector<Dtype> DescribedGpu::types() const {
  std::vector<Dtype> types{Dtype::f32, Dtype::f16};
  if (compute_capability >= 800) types.push_back(Dtype::bf16);
  return types;
}

std::span<const DescribedGpu> described_gpus() {
  // Of NVIDIA's data sheets and its programming guide's table of compute capabilities.
  static constexpr std::array gpus{
      DescribedGpu{"T4", 750, 40, 65536, 1024, 16, 16, 4, 1590, 5001},
      DescribedGpu{"A100", 800, 108, 166912, 2048, 32, 80, 40, 1410, 1512},
      DescribedGpu{"L4", 890, 58, 101376, 1536, 24, 24, 48, 2040, 6251},
      DescribedGpu{"H100", 900, 132, 232448, 2048, 32, 80, 50, 1980, 2619},
      DescribedGpu{"B200", 1000, 148, 232448, 2048, 32, 180, 126, 1965, 3996},
  };
  return gpus;
}

PlanningFor::PlanningFor(const DescribedGpu& gpu) {
  const CudnnFunctions& library = installed();
  cudnnBackendDescriptor_t made = nullptr;
  if (library.backend_create_descriptor(CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR, &made) != CUDNN_STATUS_SUCCESS) {
    throw Error(fmt::format("cuDNN {} knows no described GPUs", library.get_version()));
  }
  described = made;
  const std::string json = description(gpu);
  check(set_attribute(described, CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION, CUDNN_TYPE_CHAR,
                      static_cast<std::int64_t>(json.size() + 1), json.c_str()),
        "the described GPU's JSON");
  check(library.backend_finalize(described), "cudnnBackendFinalize of the described GPU");
}

PlanningFor::PlanningFor(const DescribedGpu& gpu, WithDriver) : PlanningFor(gpu) {
  if (::dlopen(GPUBENCH_DRIVER_WITHOUT_GPU, RTLD_NOW | RTLD_GLOBAL) == nullptr) {
    throw Error(fmt::format("the driver without a GPU cannot be opened: {}", ::dlerror()));
  }
}

PlanningFor::~PlanningFor() {
  static_cast<void>(installed().backend_destroy_descriptor(described));
  described = nullptr;
}

std::string absence_of_cudnn() {
  try {
    installed();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

const CudnnFunctions& cudnn() {
  return described == nullptr ? cuda_on_cpu::dnn_functions() : installed();
}

}  // namespace gpubench::cuda
