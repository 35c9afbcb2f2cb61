// A GPU, or a share of one: its own memory pool, one stream for kernels, and the handles of NVIDIA's libraries.
#pragma once
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "core/backend/cuda/cublaslt.h"
#include "core/backend/cuda/cuda_backend.h"
#include "core/device/device.h"

namespace gpubench::cuda {

class ConvolutionPlans;
class CudaStream;
class CudnnHandle;
class MatmulAlgorithms;

/// What kernels and planners ask of the GPU.
struct GpuProperties {
  std::string name;
  std::string bus_id;        ///< "00000000:1B:00.0"
  int major = 0, minor = 0;  ///< compute capability
  int multiprocessors = 0;
  std::size_t memory_bytes = 0;
};

class CudaDevice final : public Device {
 public:
  /// Throws Error when the memory limit is above what the GPU has, DeviceError when CUDA cannot use the GPU.
  CudaDevice(DeviceId id, const LogicalDevice& share, const CudaOptions& options);
  ~CudaDevice() override;

  const DeviceId& id() const override { return id_; }
  std::string description() const override;
  std::string bus_id() const override { return properties_.bus_id; }
  std::optional<int> tracer_index() const override { return physical_; }
  MemoryPool& memory() override { return *memory_; }
  MemoryPool* host_memory() override { return host_memory_.get(); }
  Stream& stream() override { return *stream_; }
  std::unique_ptr<Stream> new_stream() override;
  std::unique_ptr<Event> new_event() override;
  std::unique_ptr<Recording> record(const std::function<void(Stream&)>& queue) override;
  void bind_to_thread() override;
  bool shares_host_memory() const override { return false; }

  /// As CUDA counts the GPUs.
  int physical() const { return physical_; }
  const GpuProperties& properties() const { return properties_; }
  /// Made at the first call; any thread may use it.
  cublasLtContext* cublaslt();
  /// Whether float32 may be rounded to TF32 inside of convolutions and products of matrices.
  bool allows_tf32() const { return allows_tf32_; }
  /// How many algorithms for a product are measured before one is taken; below 2 none is.
  int matmul_search() const { return matmul_search_; }
  /// What cuBLASLt chose for products on this device.
  MatmulAlgorithms& matmul_algorithms() { return *matmul_algorithms_; }
  /// What cuDNN chose for convolutions on this device.
  ConvolutionPlans& convolution_plans() { return *convolution_plans_; }
  /// Created at the first call; throws Error where there is no cuDNN.
  CudnnHandle& cudnn();

 private:
  DeviceId id_;
  int physical_;
  GpuProperties properties_;
  bool allows_tf32_;
  int matmul_search_;
  std::unique_ptr<MemoryPool> memory_, host_memory_;
  std::unique_ptr<Stream> stream_;
  std::mutex recording_;
  std::unique_ptr<CudaStream> recorder_;  // made at the first recording
  std::mutex libraries_;
  std::unique_ptr<CudnnHandle> cudnn_;
  CublasLtHandle cublaslt_;
  std::unique_ptr<MatmulAlgorithms> matmul_algorithms_;
  std::unique_ptr<ConvolutionPlans> convolution_plans_;  // of the handle above
};

/// The CUDA device that a planner was given.
inline CudaDevice& cuda_device(Device& device) {
  return static_cast<CudaDevice&>(device);
}

/// Makes a GPU the calling thread's. Nothing puts the one before back: whoever needs a GPU asks for it, and selecting
/// one that nobody uses would take its memory (cudaSetDevice makes a context).
void use_gpu(int physical);

}  // namespace gpubench::cuda
