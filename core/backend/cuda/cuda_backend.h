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
  /// gpu:0, gpu:1, ...: one per entry; without `devices`, one per GPU that CUDA sees. Throws Error where an entry names
  /// a GPU that is not there, or a memory limit above what the GPU has.
  explicit CudaBackend(const std::optional<std::vector<GpuDeviceOptions>>& devices);

  /// One whole GPU per GPU that CUDA sees.
  static std::vector<GpuDeviceOptions> visible();

  std::string_view name() const override { return "cuda"; }
  std::span<const std::unique_ptr<Device>> devices() const override { return devices_; }
  std::string library() const override;
  bool fuses(const Op& op, const Signature& signature, Device& device) const override;
  std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const override;

  /// Why there is no GPU to use: "no NVIDIA driver: ..."; empty when there is one.
  const std::string& absence() const { return absence_; }

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::string absence_;
};

}  // namespace gpubench
