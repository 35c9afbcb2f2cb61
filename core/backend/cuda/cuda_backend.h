// Plans ops for NVIDIA GPUs: cuBLASLt and cuDNN where they have a kernel, our own kernels elsewhere. Without a driver,
// a GPU or the toolkit at build time, the backend has no devices and reports why.
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/backend/backend.h"

namespace gpubench {

inline constexpr int default_matmul_search = 8;
inline constexpr double small_product_flops = 1e9;

struct CudaOptions {
  /// Allows float32 convolutions and matrix products to round their inputs to TF32 (10-bit mantissa) for tensor cores.
  bool tf32 = false;
  /// How many algorithms are timed when a matrix product is planned; the fastest is kept. Below 2 none is timed, and
  /// the library's heuristic decides. None: default_matmul_search for products below small_product_flops, which the
  /// heuristic often fills a part of the GPU with and which take little time to measure; 0 for larger ones.
  std::optional<int> matmul_search{};
};

class CudaBackend final : public Backend {
 public:
  /// gpu:0, gpu:1, ...: one per entry of config.devices, else one per GPU that CUDA sees. Uses none of them: whether a
  /// GPU can be used shows its first use. Throws Error when an entry names a GPU that is missing, or a memory limit
  /// above the GPU's memory.
  explicit CudaBackend(const BackendConfig& config);

  /// The GPUs that CUDA sees (CUDA_VISIBLE_DEVICES applies).
  static std::vector<LogicalDevice> physical_devices();
  /// The CUDA that this program was built with: 13000 is 13.0; 0 without CUDA.
  static int cuda_version();
  /// The CUDA that the loaded driver is for; 0 without a driver.
  static int driver_cuda_version();

  std::string_view name() const override { return "cuda"; }
  std::span<const std::unique_ptr<Device>> devices() const override { return devices_; }
  std::optional<DeviceFault> absence() const override { return absence_; }
  std::string library() const override;
  /// Whether float32 is rounded to TF32 on one of the GPUs.
  bool rounds_float32() const;
  bool fuses(const Op& op, const Signature& signature, Device& device) const override;
  std::unique_ptr<Tracer> new_tracer() const override;
  std::unique_ptr<Kernel> plan(const Op& op, const Signature& signature, Device& device) const override;

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::optional<DeviceFault> absence_;
};

}  // namespace gpubench
