// CUDA's functions for GPUs and their memory, on the CPU.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <string_view>

#include "tests/support/cuda_on_cpu/access.h"
#include "tests/support/cuda_on_cpu/block.h"
#include "tests/support/cuda_on_cpu/gpu.h"
#include "tests/support/cuda_on_cpu/gpu_memory.h"
#include "tests/support/cuda_on_cpu/queue.h"
#include "tests/support/cuda_on_cpu/written.h"

namespace gpubench::cuda_on_cpu {
namespace {

thread_local int current_gpu = 0;
std::atomic<std::size_t> copy_count{0};

std::set<int>& gpus_with_context() {
  static auto& gpus = *new std::set<int>;
  return gpus;
}

/// How many of the GPUs CUDA_VISIBLE_DEVICES leaves visible: its numbers up to the first that names none. The tests set
/// it to nothing to hide real GPUs, so that nothing hides none of these.
int visible_gpus(int gpus, std::string_view list) {
  if (list.empty()) return gpus;
  int count = 0;
  while (!list.empty()) {
    const std::string one(list.substr(0, list.find(',')));
    char* end = nullptr;
    const long number = std::strtol(one.c_str(), &end, 10);
    if (end == one.c_str() || number < 0 || number >= gpus) break;
    ++count;
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
  return count;
}

Machine from_environment() {
  Machine one;
  if (const char* const gpus = std::getenv("CUDA_ON_CPU_GPUS")) {
    if (std::strcmp(gpus, "no_driver") == 0) one.broken = cudaErrorInsufficientDriver;
    one.gpus = std::atoi(gpus);
  }
  if (const char* const visible = std::getenv("CUDA_VISIBLE_DEVICES")) one.gpus = visible_gpus(one.gpus, visible);
  if (const char* const name = std::getenv("CUDA_ON_CPU_NAME")) one.name = name;
  if (const char* const driver = std::getenv("CUDA_ON_CPU_DRIVER")) one.driver = std::atoi(driver);
  if (const char* const taken = std::getenv("CUDA_ON_CPU_TAKEN")) {
    std::istringstream list(taken);
    for (std::string gpu; std::getline(list, gpu, ',');) one.taken.insert(std::stoi(gpu));
    one.compute_mode = cudaComputeModeExclusiveProcess;
  }
  one.open = std::getenv("CUDA_ON_CPU_OPEN") != nullptr;
  one.last_thread_first = std::getenv("CUDA_ON_CPU_LAST_THREAD_FIRST") != nullptr;
  static_cast<void>(checks());  // ends the program at once when CUDA_ON_CPU_CHECK is wrong
  if (const char* const kernels = std::getenv("CUDA_ON_CPU_FAULT_AFTER")) {
    const char* const gpu = std::getenv("CUDA_ON_CPU_FAULT_GPU");
    fail_after(std::atoi(kernels), cudaErrorIllegalAddress, gpu == nullptr ? -1 : std::atoi(gpu));
  }
  if (const char* const calls = std::getenv("CUDA_ON_CPU_FAULT_IN_CAPTURE")) {
    fail_in_capture(std::atoi(calls), cudaErrorIllegalAddress);
  }
  return one;
}

/// Ends the test where a copy touches memory of a GPU that is not allocated.
void check_operand(const char* what, const void* at, std::size_t bytes) {
  const std::string why = gpu_memory_fault(at, bytes, -1);
  if (!why.empty()) fail_work(std::string(what) + " " + std::to_string(bytes) + " bytes: " + why);
}

/// Whether the pointers are what the kind says. GPUs reach page-locked memory of the host too.
bool is_kind(cudaMemcpyKind kind, const void* to, const void* from) {
  const auto lock = lock_streams();
  const auto of_host = [](const void* memory) { return gpu_that_has(memory) < 0; };
  const auto of_gpu = [](const void* memory) { return gpu_that_has(memory) >= 0 || is_page_locked(memory, 1); };
  switch (kind) {
    case cudaMemcpyHostToHost:
      return of_host(to) && of_host(from);
    case cudaMemcpyHostToDevice:
      return of_gpu(to) && of_host(from);
    case cudaMemcpyDeviceToHost:
      return of_host(to) && of_gpu(from);
    case cudaMemcpyDeviceToDevice:
      return of_gpu(to) && of_gpu(from);
    default:
      return kind == cudaMemcpyDefault;
  }
}

/// Ends the test where the host gets what nothing has written.
void copy_state(void* to, const void* from, std::size_t bytes) {
  note_copied(to, from, bytes);
  if (gpu_that_has(to) >= 0) return;
  if (const std::byte* const first = first_unwritten(from, bytes)) {
    fail_work("cudaMemcpyAsync to the host reads " + std::to_string(bytes) + " bytes: " + unwritten_memory(first));
  }
}

}  // namespace

Machine& machine() {
  static Machine one = from_environment();
  return one;
}

int gpu_of_thread() {
  return current_gpu;
}
std::size_t copies() {
  return copy_count;
}

cudaError_t make_context(int gpu) {
  const auto lock = lock_streams();
  if (machine().taken.contains(gpu) && machine().taken_error != cudaSuccess) return result(machine().taken_error);
  if (!gpus_with_context().insert(gpu).second) return cudaSuccess;
  if (const char* const file = std::getenv("CUDA_ON_CPU_CONTEXTS")) std::ofstream(file, std::ios::app) << gpu << "\n";
  return cudaSuccess;
}
cudaError_t initialize() {
  return make_context(current_gpu);
}
std::set<int> contexts() {
  const auto lock = lock_streams();
  return gpus_with_context();
}
void forget_contexts() {
  const auto lock = lock_streams();
  gpus_with_context().clear();
}

extern "C" {

cudaError_t cudaGetDeviceCount(int* count) {
  *count = machine().gpus;
  if (machine().broken != cudaSuccess) return result(machine().broken);
  if (machine().driver / 1000 < CUDART_VERSION / 1000) return result(cudaErrorInsufficientDriver);
  return machine().gpus == 0 ? result(cudaErrorNoDevice) : cudaSuccess;
}
cudaError_t cudaDriverGetVersion(int* version) {
  *version = machine().broken == cudaErrorInsufficientDriver ? 0 : machine().driver;
  return cudaSuccess;
}
cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = CUDART_VERSION;
  return cudaSuccess;
}
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  *properties = {};
  machine().name.copy(properties->name, sizeof(properties->name) - 1);
  properties->totalGlobalMem = machine().memory_bytes;
  properties->major = 9;
  properties->multiProcessorCount = machine().multiprocessors;
  properties->pciBusID = device + 1;
  if (machine().nameless.contains(device)) return result(cudaErrorECCUncorrectable);
  return device < machine().gpus ? cudaSuccess : result(cudaErrorInvalidDevice);
}
cudaError_t cudaSetDevice(int device) {
  if (device >= machine().gpus) return result(cudaErrorInvalidDevice);
  if (const cudaError_t refused = make_context(device); refused != cudaSuccess) return refused;
  current_gpu = device;
  return result(cudaSuccess);
}
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (attribute != cudaDevAttrComputeMode || device >= machine().gpus) return result(cudaErrorInvalidValue);
  *value = machine().taken.contains(device) ? machine().compute_mode : cudaComputeModeDefault;
  return cudaSuccess;
}
cudaError_t cudaGetDevice(int* device) {
  *device = current_gpu;
  return cudaSuccess;
}
cudaError_t cudaMalloc(void** memory, std::size_t bytes) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = result(cudaSuccess); refused != cudaSuccess) return refused;
  *memory = gpu_memories()[current_gpu].allocate(bytes);
  return result(*memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFree(void* memory) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  run_all_streams();
  for (auto& [gpu, pool] : gpu_memories()) {
    if (pool.owns(memory)) return pool.release(memory) ? cudaSuccess : result(cudaErrorInvalidValue);
  }
  return memory == nullptr ? cudaSuccess : result(cudaErrorInvalidValue);
}
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  *free = gpu_memories()[current_gpu].free_bytes();
  *total = machine().memory_bytes;
  return result(cudaSuccess);
}
cudaError_t cudaHostAlloc(void** memory, std::size_t bytes, unsigned) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = result(cudaSuccess); refused != cudaSuccess) return refused;
  *memory = lock_pages(bytes);
  return result(*memory != nullptr ? cudaSuccess : cudaErrorMemoryAllocation);
}
cudaError_t cudaFreeHost(void* memory) {
  const auto lock = lock_streams();
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  return memory == nullptr || unlock_pages(memory) ? cudaSuccess : result(cudaErrorInvalidValue);
}
const char* cudaGetErrorString(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return "out of memory";
  if (error == cudaErrorIllegalAddress) return "an illegal memory access was encountered";
  return "an error of the CUDA that runs on the CPU";
}
const char* cudaGetErrorName(cudaError_t error) {
  if (error == cudaErrorMemoryAllocation) return "cudaErrorMemoryAllocation";
  if (error == cudaErrorIllegalAddress) return "cudaErrorIllegalAddress";
  if (error == cudaErrorDevicesUnavailable) return "cudaErrorDevicesUnavailable";
  if (error == cudaErrorInvalidResourceHandle) return "cudaErrorInvalidResourceHandle";
  if (error == cudaErrorSystemNotReady) return "cudaErrorSystemNotReady";
  if (error == cudaErrorNoKernelImageForDevice) return "cudaErrorNoKernelImageForDevice";
  return "cudaError";
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream) {
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  if (!is_kind(kind, to, from)) return result(cudaErrorInvalidValue);
  ++copy_count;
  return queue_copy(stream, [=] {
    check_operand("cudaMemcpyAsync reads", from, bytes);
    check_operand("cudaMemcpyAsync writes", to, bytes);
    if (checks().initialized) copy_state(to, from, bytes);
    std::memcpy(to, from, bytes);
  });
}
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind) {
  if (const cudaError_t refused = unless_capturing(); refused != cudaSuccess) return refused;
  const cudaError_t queued = cudaMemcpyAsync(to, from, bytes, kind, cudaStreamLegacy);
  return queued != cudaSuccess ? queued : cudaStreamSynchronize(cudaStreamLegacy);
}
cudaError_t cudaMemsetAsync(void* memory, int value, std::size_t bytes, cudaStream_t stream) {
  if (const cudaError_t refused = initialize(); refused != cudaSuccess) return refused;
  return queue(stream, [=] {
    check_operand("cudaMemsetAsync writes", memory, bytes);
    if (checks().initialized) note_written(memory, bytes);
    std::memset(memory, value, bytes);
  });
}
}

}  // namespace gpubench::cuda_on_cpu
