// NVML's GPU performance monitoring (Hopper and later): how busy multiprocessors, tensor cores and memory were between
// two samples, counted by the hardware.
#pragma once
#include <memory>

#include "core/base/clock.h"
#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {

/// NaN where not measured.
struct GpmShares {
  double sm, tensor, dram;
};

class Gpm {
 public:
  /// NVML wants two samples to lie further apart.
  static constexpr Seconds min_interval{0.1};

  /// Takes the first sample, where the device has any. `sensors` must outlive it.
  Gpm(const GpuSensors& sensors, Clock::time_point now);
  ~Gpm();
  Gpm(const Gpm&) = delete;
  Gpm& operator=(const Gpm&) = delete;

  bool is_supported() const { return latest_ != nullptr; }
  /// Of the time since the previous sample. NaN, and no sample, when that was less than min_interval ago.
  GpmShares read(Clock::time_point now);

 private:
  bool take(NvmlGpmSample sample) const;
  void release();

  const GpuSensors& sensors_;
  NvmlGpmSample latest_ = nullptr, spare_ = nullptr;
  Clock::time_point taken_;
  std::unique_ptr<NvmlGpmMetrics> metrics_ = std::make_unique<NvmlGpmMetrics>();
};

}  // namespace gpubench
