// What a sampler reads of a GPU while it works.
#pragma once
#include <functional>
#include <optional>

#include "core/telemetry/nvml/gpm.h"
#include "core/telemetry/probe.h"

namespace gpubench {

/// Columns: power_w, energy_j (drawn since the previous reading), temperature_c, sm_clock_hz, memory_clock_hz,
/// throttle_bits (as throttle_words takes them), nvml_active_share, sm_share, tensor_share, dram_share.
class GpuProbe final : public Probe {
 public:
  /// `now` is the clock; tests give their own.
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
