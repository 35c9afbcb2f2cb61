// What devices and processors do while something is measured: their memory, power, clocks and time. Devices that hold
// nothing when measuring begins take no part in it.
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
  /// Takes long enough for a GPU to fall asleep in (NVML is opened), so it comes before a warm-up.
  explicit DeviceWatch(Runtime& runtime);

  void begin();
  void end();
  /// Whether a GPU holds anything now.
  bool uses_gpus() const { return !gpus_in_use().empty(); }
  /// Seconds that copies have taken of their callers' time so far, on devices where they do.
  Seconds copy_time() const;
  /// After end(): sets peak_memory_bytes, reserved_memory_bytes, cpu_share and what GpuWatch::describe() sets.
  void describe(Record& record, double examples) const;
  /// Why what was measured is not to be relied on; empty when nothing speaks against it.
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
