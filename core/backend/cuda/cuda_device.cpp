#include "core/backend/cuda/cuda_device.h"

#include <array>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/cudnn.h"
#include "core/backend/cuda/device_choices.h"
#include "core/backend/cuda/gpu_context.h"
#include "core/backend/cuda/status.h"
#include "core/base/error.h"
#include "core/base/host_memory.h"
#include "core/base/units.h"
#include "core/device/bound_thread.h"
#include "core/device/memory_nodes.h"
#include "core/nvidia/gpu_slice.h"
#include "core/telemetry/peaks.h"
#include "core/trace/timeline.h"

namespace gpubench::cuda {
namespace {

/// Share of the free memory that a pool without growth and limit takes: libraries need the rest for themselves.
constexpr double preallocated_share = 0.9;

class GpuMemory final : public MemorySource {
 public:
  explicit GpuMemory(CudaDevice& gpu) : gpu_(gpu) {}

  std::byte* allocate(std::size_t bytes) override {
    gpu_.bind_to_thread();
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    check(status, "cudaMalloc");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) override {
    select_gpu_if_none(gpu_.physical());
    static_cast<void>(cudaFree(memory));
  }
  std::size_t preallocation() override {
    gpu_.bind_to_thread();
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return static_cast<std::size_t>(preallocated_share * static_cast<double>(free));
  }

 private:
  CudaDevice& gpu_;
};

/// Page-locked, for all GPUs. The system takes pages from the node of the thread that asks for them: here that of the
/// GPU.
class PinnedMemory final : public MemorySource {
 public:
  PinnedMemory(CudaDevice& gpu, std::optional<MemoryNode> near) : gpu_(gpu), near_(std::move(near)) {}

  std::byte* allocate(std::size_t bytes) override {
    if (!may_take_host_memory(bytes)) return nullptr;
    gpu_.bind_to_thread();
    const BoundThread there(near_ ? &*near_ : nullptr);
    void* memory = nullptr;
    const cudaError_t status = cudaHostAlloc(&memory, bytes, cudaHostAllocPortable);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    check(status, "cudaHostAlloc");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) override {
    select_gpu_if_none(gpu_.physical());
    static_cast<void>(cudaFreeHost(memory));
  }
  std::string limit() const override { return host_memory_limit(); }

 private:
  CudaDevice& gpu_;
  std::optional<MemoryNode> near_;
};

/// The memory node of the GPU, with those of its processors that this process may use.
std::optional<MemoryNode> node_of(const GpuProperties& gpu) {
  return node_near(gpu.bus_id, nodes_with(read_memory_nodes(), process_processors()));
}

GpuProperties properties_of(int physical) {
  cudaDeviceProp device{};
  if (const cudaError_t status = cudaGetDeviceProperties(&device, physical); status != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return {.name = "unknown", .bus_id = {}, .error = status};
  }
  return {.name = device.name,
          .bus_id = fmt::format("{:08X}:{:02X}:{:02X}.0", device.pciDomainID, device.pciBusID, device.pciDeviceID),
          .major = device.major,
          .minor = device.minor,
          .multiprocessors = device.multiProcessorCount,
          .memory_bytes = device.totalGlobalMem};
}

}  // namespace

CudaDevice::CudaDevice(DeviceId id, const LogicalDevice& share, const CudaOptions& options)
    : id_(std::move(id)),
      physical_(share.physical),
      properties_(properties_of(share.physical)),
      allows_tf32_(options.tf32),
      matmul_search_(options.matmul_search),
      choices_(std::make_unique<DeviceChoices>()) {
  if (share.memory.limit > properties_.memory_bytes && properties_.error == 0) {
    throw Error(fmt::format("{}: a memory limit of {} is more than the {} of {}", to_string(id_),
                            format_bytes(static_cast<double>(share.memory.limit)),
                            format_bytes(static_cast<double>(properties_.memory_bytes)), properties_.name));
  }
  memory_ = std::make_unique<MemoryPool>(to_string(id_), std::make_unique<GpuMemory>(*this), share.memory);
  host_memory_ =
      std::make_unique<MemoryPool>(fmt::format("page-locked host memory of {}", to_string(id_)),
                                   std::make_unique<PinnedMemory>(*this, node_of(properties_)), PoolOptions{});
}

CudaDevice::~CudaDevice() {
  // Libraries free their handles on the current GPU, and cuDNN waits for it.
  if (in_use()) static_cast<void>(select_gpu(physical_));
}

void CudaDevice::begin_use() {
  const std::lock_guard lock(first_use_);
  if (in_use()) return;
  make_context(physical_, properties_);
  try {
    stream_ = std::make_unique<CudaStream>();
  } catch (const DeviceError& error) {
    throw UnusableDevice({fmt::format("GPU {} ({}) cannot be used: {}", physical_, properties_.name, error.what()),
                          "look at nvidia-smi, and for NVRM in the kernel's messages: dmesg"});
  }
  in_use_.store(true, std::memory_order_release);
}

/// The thread's earlier GPU is never restored: code that needs a GPU selects it itself.
void CudaDevice::bind_to_thread() {
  if (!in_use()) begin_use();
  check(select_gpu(physical_), "cudaSetDevice");
}

CudnnHandle& CudaDevice::cudnn() {
  const std::lock_guard lock(libraries_);
  if (cudnn_ == nullptr) {
    bind_to_thread();
    cudnn_ = std::make_unique<CudnnHandle>();
  }
  return *cudnn_;
}

std::string CudaDevice::description() const {
  const auto part = slice();
  return fmt::format("{}, {}, {}compute capability {}.{}", properties_.name,
                     format_bytes(static_cast<double>(properties_.memory_bytes)),
                     part ? multiprocessors_text(properties_.name, *part) + ", " : "", properties_.major,
                     properties_.minor);
}

std::optional<DeviceSlice> CudaDevice::slice() const {
  return slice_of(properties_.name, properties_.multiprocessors, properties_.memory_bytes);
}

std::unique_ptr<Stream> CudaDevice::new_stream() {
  bind_to_thread();
  return std::make_unique<CudaStream>();
}

std::unique_ptr<Event> CudaDevice::new_event() {
  bind_to_thread();
  return std::make_unique<CudaEvent>(false);
}

std::unique_ptr<Event> CudaDevice::new_timed_event() {
  bind_to_thread();
  return std::make_unique<CudaEvent>(true);
}

std::unique_ptr<Recording> CudaDevice::record(std::span<const RecordedWork> work) {
  bind_to_thread();
  const std::lock_guard lock(recording_);
  if (recorder_ == nullptr) recorder_ = std::make_unique<CudaStream>();
  return record_graph(*recorder_, work);
}

cublasLtContext* CudaDevice::cublaslt() {
  const std::lock_guard lock(libraries_);
  if (cublaslt_ == nullptr) {
    bind_to_thread();
    cublaslt_ = new_cublaslt_handle();
  }
  return cublaslt_.get();
}

}  // namespace gpubench::cuda
