// The sampler's readings of a GPU, including the hardware counters of Hopper and later GPUs.
#pragma once
#include <functional>
#include <memory>
#include <optional>

#include "core/base/clock.h"
#include "core/telemetry/nvml/gpu_sensors.h"
#include "core/telemetry/sampler.h"

namespace gpubench {

/// Shares of the time in which multiprocessors, tensor cores and memory were busy; NaN if not measured.
struct GpmShares {
  double sm, tensor, dram;
};

/// NVML's GPU performance monitoring (Hopper and later): hardware counters between two samples.
class Gpm {
 public:
  /// NVML's minimum distance between two samples.
  static constexpr Seconds min_interval{0.1};

  /// Takes the first sample if the device supports it. `sensors` must outlive it.
  Gpm(const GpuSensors& sensors, Clock::time_point now);
  ~Gpm();
  Gpm(const Gpm&) = delete;
  Gpm& operator=(const Gpm&) = delete;

  bool is_supported() const { return latest_ != nullptr; }
  /// The shares since the previous sample. NaN, without a new sample, if that was less than min_interval ago.
  GpmShares read(Clock::time_point now);

 private:
  bool take(NvmlGpmSample sample) const;
  void release();

  const GpuSensors& sensors_;
  NvmlGpmSample latest_ = nullptr, spare_ = nullptr;
  Clock::time_point taken_;
  std::unique_ptr<NvmlGpmMetrics> metrics_ = std::make_unique<NvmlGpmMetrics>();
};

/// Columns: power_w, energy_j (since the previous reading), temperature_c, sm_clock_hz, memory_clock_hz, throttle_bits
/// (for throttle_words), nvml_active_share, sm_share, tensor_share, dram_share.
class GpuProbe final : public Probe {
 public:
  /// `now` is the clock; tests pass a fake one.
  explicit GpuProbe(GpuSensors sensors, std::function<Clock::time_point()> now = &Clock::now);

  std::string_view name() const override { return "gpu"; }
  std::span<const std::string_view> columns() const override;
  void read(std::span<double> values) override;

 private:
  double energy_since_last();

  GpuSensors sensors_;
  std::function<Clock::time_point()> now_;
  std::optional<double> last_energy_j_;
  Gpm gpm_;
};

}  // namespace gpubench
