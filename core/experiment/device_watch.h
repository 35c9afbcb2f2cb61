// Memory, power, clocks and processor time of devices while something is measured. Devices that hold no memory when
// measuring begins are left out.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/exec/runtime.h"
#include "core/experiment/gpu_watch.h"
#include "core/results/record.h"
#include "core/telemetry/proc/process_probes.h"

namespace gpubench {

class DeviceWatch {
 public:
  /// Opens NVML, which takes so long that a GPU lowers its clocks: construct it before a warm-up.
  explicit DeviceWatch(Runtime& runtime);

  void begin();
  void end();
  /// Whether a GPU holds memory now.
  bool uses_gpus() const { return !gpus_in_use().empty(); }
  /// Seconds that copies have taken of their callers' time so far, on devices where they do.
  Seconds copy_time() const;
  /// After end(): sets peak_memory_bytes, reserved_memory_bytes, cpu_share and what GpuWatch::describe() sets.
  void describe(Record& record, double examples) const;
  /// Why the measurement is unreliable; empty where it is not.
  std::string doubt() const { return gpus_->doubt(); }

 private:
  std::vector<WatchedGpu> gpus_in_use() const;
  template <class Use>
  void for_each_device(const Use& use) const {
    for (const DeviceId& id : runtime_.devices().ids()) use(runtime_.devices().device(id));
  }

  Runtime& runtime_;
  NvmlAccess nvml_;
  std::optional<GpuWatch> gpus_;
  std::optional<CpuProbe> cpu_;
  double cpu_share_ = 0;
};

}  // namespace gpubench
