// NVIDIA's management library, opened at run time because it belongs to the driver. It reads; nothing here sets a
// clock, a limit or a mode.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/shared_library.h"
#include "core/telemetry/nvml/functions.h"

namespace gpubench {

class Nvml {
 public:
  /// Opens the driver's library. Throws Error where there is none, DeviceError where the driver does not answer.
  Nvml();
  /// Over functions of a test's own.
  explicit Nvml(const NvmlFunctions& functions);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  const NvmlFunctions& functions() const { return functions_; }
  std::string driver_version() const;
  /// Takes the bus id in any of its spellings. Throws Error naming it where the driver has no such GPU.
  NvmlDevice find(std::string_view bus_id) const;

 private:
  void check(NvmlReturn result, std::string_view call) const;

  std::optional<SharedLibrary> library_;
  NvmlFunctions functions_{};
};

/// The opened library, or why there is none.
struct NvmlAccess {
  std::shared_ptr<const Nvml> nvml;
  std::string reason;  ///< empty when it was opened
};
NvmlAccess open_nvml();

/// As NVML writes it, "00000000:1B:00.0": CUDA shortens the domain and may write small letters.
std::string normal_bus_id(std::string_view bus_id);

}  // namespace gpubench
