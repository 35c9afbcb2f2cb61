// What all checks read: files below one root, the environment, and the sensors of each GPU, opened once.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/doctor/doctor.h"
#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {

struct FileText {
  std::string text;
  std::string error;  ///< "/sys/... cannot be read: Permission denied"; empty if it was read
  bool was_read() const { return error.empty(); }
};

struct MachineGpu {
  CheckedGpu gpu;
  std::optional<GpuSensors> sensors;
  std::string reason;  ///< why there are no sensors
};

class Machine {
 public:
  explicit Machine(const MachineSources& sources);

  const MachineSources& sources() const { return sources_; }
  const NvmlAccess& nvml() const { return nvml_; }
  const std::vector<MachineGpu>& gpus() const { return gpus_; }
  /// GPUs of NVIDIA on the PCI bus, whether or not there is a driver for them.
  int nvidia_cards() const;
  /// `name` below the root: "proc/stat".
  FileText read(const std::string& name) const;
  bool has(const std::string& name) const;
  std::optional<std::string> variable(const std::string& name) const;

 private:
  const MachineSources& sources_;
  NvmlAccess nvml_;
  std::vector<MachineGpu> gpus_;
};

/// "0-3,8": in order. Empty for text that is no such list.
std::vector<int> parse_processors(std::string_view text);
/// "0-3,8", the reverse.
std::string processors_text(const std::vector<int>& processors);
/// Without blanks and line ends at both ends.
std::string trimmed(std::string_view text);

CheckResult ok(std::string found);
CheckResult costs_speed(std::string found, std::string consequence, std::string remedy);
CheckResult wrong(std::string found, std::string consequence, std::string remedy);
CheckResult unknown(std::string reason);

}  // namespace gpubench
