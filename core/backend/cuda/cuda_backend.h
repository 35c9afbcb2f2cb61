// Plans ops for NVIDIA GPUs: cuBLASLt and cuDNN where they have the kernel, our own kernels elsewhere. Without a
// driver, a GPU or the toolkit that the program was built with, the backend has no devices and says why.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"
#include "core/backend/gpu_options.h"

namespace gpubench {

class CudaBackend final : public Backend {
 public:
  /// gpu:0, gpu:1, ...: one per entry; without `devices`, one per GPU that CUDA sees and can use. Throws Error where an
  /// entry names a GPU that is not there or cannot be used, or a memory limit above what the GPU has.
  explicit CudaBackend(const std::optional<std::vector<GpuDeviceOptions>>& devices);

  /// One whole GPU per GPU that CUDA sees.
  static std::vector<GpuDeviceOptions> visible();
  /// As CUDA counts the GPUs; none for a device of another backend.
  static std::optional<int> physical(const Device& device);

  std::string_view name() const override { return "cuda"; }
  std::span<const std::unique_ptr<Device>> devices() const override { return devices_; }
  std::string library() const override;
  bool fuses(const Op& op, const Signature& signature, Device& device) const override;
  std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const override;

  /// Why there is no GPU to use: "no NVIDIA driver: ..."; empty when there is one.
  const std::string& absence() const { return absence_; }
  /// The GPUs that are there, were not asked for by name, and cannot be used: "GPU 1: ...".
  const std::vector<std::string>& unusable() const { return unusable_; }

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::string absence_;
  std::vector<std::string> unusable_;
};

}  // namespace gpubench
