// Plans ops for NVIDIA GPUs: cuBLASLt and cuDNN where they have the kernel, our own kernels elsewhere. Without a
// driver, a GPU or the toolkit that the program was built with, the backend has no devices and says why.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"

namespace gpubench {

struct CudaOptions {
  /// Lets float32 convolutions and products of matrices round their inputs to TF32 (10 bits) for the tensor cores.
  bool tf32 = false;
  /// How many algorithms for a product of matrices are measured when it is planned, of which the fastest is kept. Below
  /// 2: none is, and the library's estimate decides.
  int matmul_search = 0;
};

class CudaBackend final : public Backend {
 public:
  /// gpu:0, gpu:1, ...: one per entry of config.devices; without it, one per GPU that CUDA sees and can use. Throws
  /// Error where an entry names a GPU that is not there or cannot be used, or a memory limit above what the GPU has.
  explicit CudaBackend(const BackendConfig& config);

  /// The GPUs that CUDA sees: those of the machine after CUDA_VISIBLE_DEVICES.
  static std::vector<LogicalDevice> physical_devices();

  std::string_view name() const override { return "cuda"; }
  std::span<const std::unique_ptr<Device>> devices() const override { return devices_; }
  std::string absence() const override { return absence_; }
  std::vector<std::string> unusable() const override { return unusable_; }
  std::string library() const override;
  bool fuses(const Op& op, const Signature& signature, Device& device) const override;
  std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const override;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::string absence_;
  std::vector<std::string> unusable_;
};

}  // namespace gpubench
