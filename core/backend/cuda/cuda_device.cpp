#include "core/backend/cuda/cuda_device.h"

#include <array>
#include <cuda_runtime_api.h>
#include <fmt/format.h>
#include <optional>
#include <utility>

#include "core/backend/cuda/cuda_stream.h"
#include "core/backend/cuda/cudnn.h"
#include "core/backend/cuda/engine_plans.h"
#include "core/backend/cuda/gpu_context.h"
#include "core/backend/cuda/matmul_algorithms.h"
#include "core/backend/cuda/status.h"
#include "core/base/error.h"
#include "core/base/units.h"
#include "core/device/bound_thread.h"
#include "core/device/memory_nodes.h"
#include "core/telemetry/peaks.h"

namespace gpubench::cuda {
namespace {

class GpuMemory final : public MemorySource {
 public:
  explicit GpuMemory(int physical) : physical_(physical) {}

  std::byte* allocate(std::size_t bytes) override {
    use_gpu(physical_);
    void* memory = nullptr;
    const cudaError_t status = cudaMalloc(&memory, bytes);
    if (status == cudaErrorMemoryAllocation) {
      static_cast<void>(cudaGetLastError());
      return nullptr;
    }
    check(status, "cudaMalloc");
    return static_cast<std::byte*>(memory);
  }
  void release(std::byte* memory, std::size_t) override { static_cast<void>(cudaFree(memory)); }

 private:
  int physical_;
};

/// Page-locked, for all GPUs. The system takes pages from the node of the thread that asks for them: here that of the
/// GPU.
class PinnedMemory final : public MemorySource {
 public:
  PinnedMemory(int physical, std::optional<MemoryNode> near) : physical_(physical), near_(std::move(near)) {}

  std::byte* allocate(std::size_t bytes) override {
    use_gpu(physical_);
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
  void release(std::byte* memory, std::size_t) override { static_cast<void>(cudaFreeHost(memory)); }

 private:
  int physical_;
  std::optional<MemoryNode> near_;
};

/// The memory node of the GPU, with those of its processors that this process may use.
std::optional<MemoryNode> node_of(const GpuProperties& gpu) {
  return node_near(gpu.bus_id, nodes_with(read_memory_nodes(), process_processors()));
}

/// Share of the memory that a pool without growth and limit takes at first use: libraries need the rest for themselves.
constexpr double preallocated_share = 0.9;

PoolOptions with_preallocation(PoolOptions options) {
  if (options.growth || options.limit != 0) return options;
  std::size_t free = 0, total = 0;
  check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
  options.preallocation = static_cast<std::size_t>(preallocated_share * static_cast<double>(free));
  return options;
}

GpuProperties properties_of(int physical) {
  cudaDeviceProp device{};
  check(cudaGetDeviceProperties(&device, physical), "cudaGetDeviceProperties");
  return {.name = device.name,
          .bus_id = fmt::format("{:08X}:{:02X}:{:02X}.0", device.pciDomainID, device.pciBusID, device.pciDeviceID),
          .major = device.major,
          .minor = device.minor,
          .multiprocessors = device.multiProcessorCount,
          .memory_bytes = device.totalGlobalMem};
}

}  // namespace

void use_gpu(int physical) {
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  if (current != physical) check(cudaSetDevice(physical), "cudaSetDevice");
}

CudaDevice::CudaDevice(DeviceId id, const LogicalDevice& share, const CudaOptions& options)
    : id_(std::move(id)),
      physical_(share.physical),
      properties_(properties_of(share.physical)),
      allows_tf32_(options.tf32),
      matmul_search_(options.matmul_search) {
  if (share.memory.limit > properties_.memory_bytes) {
    throw Error(fmt::format("{}: a memory limit of {} is more than the {} of {}", to_string(id_),
                            format_bytes(static_cast<double>(share.memory.limit)),
                            format_bytes(static_cast<double>(properties_.memory_bytes)), properties_.name));
  }
  make_context(physical_, properties_);
  memory_ = std::make_unique<MemoryPool>(to_string(id_), std::make_unique<GpuMemory>(physical_),
                                         with_preallocation(share.memory));
  host_memory_ =
      std::make_unique<MemoryPool>(fmt::format("page-locked host memory of {}", to_string(id_)),
                                   std::make_unique<PinnedMemory>(physical_, node_of(properties_)), PoolOptions{});
  stream_ = std::make_unique<CudaStream>();
  convolution_plans_ = std::make_unique<EnginePlans<ConvolutionProblem>>(*this);
  attention_plans_ = std::make_unique<EnginePlans<AttentionProblem>>(*this);
  matmul_algorithms_ = std::make_unique<MatmulAlgorithms>(*this, options.matmul_search);
}

CudaDevice::~CudaDevice() = default;

CudnnHandle& CudaDevice::cudnn() {
  const std::lock_guard lock(libraries_);
  if (cudnn_ == nullptr) {
    use_gpu(physical_);
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

std::optional<GpuSlice> CudaDevice::slice() const {
  return slice_of(properties_.name, properties_.multiprocessors, properties_.memory_bytes);
}

std::unique_ptr<Stream> CudaDevice::new_stream() {
  use_gpu(physical_);
  return std::make_unique<CudaStream>();
}

std::unique_ptr<Event> CudaDevice::new_event() {
  use_gpu(physical_);
  return std::make_unique<CudaEvent>(false);
}

std::unique_ptr<Event> CudaDevice::new_timed_event() {
  use_gpu(physical_);
  return std::make_unique<CudaEvent>(true);
}

std::unique_ptr<Recording> CudaDevice::record(std::span<const RecordedWork> work) {
  use_gpu(physical_);
  const std::lock_guard lock(recording_);
  if (recorder_ == nullptr) recorder_ = std::make_unique<CudaStream>();
  return record_graph(*recorder_, work);
}

cublasLtContext* CudaDevice::cublaslt() {
  const std::lock_guard lock(libraries_);
  if (cublaslt_ == nullptr) {
    use_gpu(physical_);
    cublaslt_ = new_cublaslt_handle();
  }
  return cublaslt_.get();
}

void CudaDevice::bind_to_thread() {
  use_gpu(physical_);
}

}  // namespace gpubench::cuda
