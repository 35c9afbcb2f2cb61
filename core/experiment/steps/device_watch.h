// Memory, power, clocks and processor time of devices during a measurement. Devices that hold no memory when it begins
// are left out.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/exec/runtime.h"
#include "core/experiment/steps/gpu_watch.h"
#include "core/results/record.h"
#include "core/telemetry/proc/process_probes.h"

namespace gpubench {

class DeviceWatch {
 public:
  /// Opens NVML. That takes long enough for a GPU to lower its clocks, so construct this before the warm-up.
  explicit DeviceWatch(Runtime& runtime);

  void begin();
  void end();
  /// Whether a GPU does. Launches cost the host time there; emulated devices only say what they would cost.
  bool uses_gpus() const { return !gpus_in_use().empty(); }
  /// Total seconds that callers have spent in synchronous copies.
  Seconds copy_time() const;
  /// Call after end(): sets peak_memory_bytes, reserved_memory_bytes, cpu_share and the columns of
  /// GpuWatch::describe().
  void describe(Record& record, double examples) const;
  /// Why the measurement is unreliable.
  Doubt doubt() const { return gpus_->doubt(); }

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
