// A GPU, or a share of one: its own memory pool, one stream for kernels, and the handles of NVIDIA's libraries.
#pragma once
#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"

namespace gpubench::cuda {

class CudaStream;
class CudnnHandle;
struct DeviceChoices;

/// Properties of the GPU that kernels and planners use.
struct GpuProperties {
  std::string name;          ///< of a slice: "NVIDIA H100 80GB HBM3 MIG 1g.10gb"
  std::string bus_id;        ///< "00000000:1B:00.0"
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
  /// CUDA's error if the GPU does not give its properties; the others are unknown then.
  int error = 0;
};

class CudaDevice final : public Device {
 public:
  /// Makes no context (in_use()). Throws Error when the memory limit exceeds the GPU's memory.
  CudaDevice(DeviceId id, const LogicalDevice& share, const CudaOptions& options);
  ~CudaDevice() override;

  const DeviceId& id() const override { return id_; }
  std::string description() const override;
  std::string bus_id() const override { return properties_.bus_id; }
  std::optional<DeviceSlice> slice() const override;
  std::optional<int> tracer_index() const override { return physical_; }
  bool in_use() const override { return in_use_.load(std::memory_order_acquire); }
  MemoryPool& memory() override { return *memory_; }
  MemoryPool* host_memory() override { return host_memory_.get(); }
  Stream& stream() override {
    if (!in_use()) begin_use();
    return *stream_;
  }
  std::unique_ptr<Stream> new_stream() override;
  std::unique_ptr<Event> new_event() override;
  std::unique_ptr<Event> new_timed_event() override;
  std::unique_ptr<Recording> record(std::span<const RecordedWork> work) override;
  void bind_to_thread() override;
  bool shares_host_memory() const override { return false; }

  /// CUDA's index of the GPU.
  int physical() const { return physical_; }
  const GpuProperties& properties() const { return properties_; }
  /// That the device may take: the limit that is set, or all of the GPU's.
  std::size_t memory_bytes() const {
    const std::size_t limit = memory_->options().limit;
    return limit > 0 ? limit : properties_.memory_bytes;
  }
  /// Created at the first call; thread-safe.
  cublasLtContext* cublaslt();
  /// Whether float32 convolutions and matrix products may round their inputs to TF32.
  bool allows_tf32() const { return allows_tf32_; }
  /// As in CudaOptions.
  std::optional<int> matmul_search() const { return matmul_search_; }
  /// Algorithms and engines that were chosen for this device.
  DeviceChoices& choices() { return *choices_; }
  /// Created at the first call; throws Error if there is no cuDNN.
  CudnnHandle& cudnn();

 private:
  void begin_use();

  DeviceId id_;
  int physical_;
  GpuProperties properties_;
  bool allows_tf32_;
  std::optional<int> matmul_search_;
  std::unique_ptr<MemoryPool> memory_, host_memory_;
  std::mutex first_use_;
  std::atomic<bool> in_use_{false};  // behind the context and the stream
  std::unique_ptr<Stream> stream_;
  std::mutex recording_;
  std::unique_ptr<CudaStream> recorder_;  // created at the first recording
  std::mutex libraries_;
  std::unique_ptr<CudnnHandle> cudnn_;
  CublasLtHandle cublaslt_;
  std::unique_ptr<DeviceChoices> choices_;  // engines are created with the handles above
};

/// Casts the device that a planner receives.
inline CudaDevice& cuda_device(Device& device) {
  return static_cast<CudaDevice&>(device);
}

}  // namespace gpubench::cuda
