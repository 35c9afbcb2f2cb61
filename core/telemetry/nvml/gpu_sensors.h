// One GPU's readings in our units; nullopt for values that the device or its driver does not report.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/telemetry/nvml/nvml.h"

namespace gpubench {

struct PcieLink {
  unsigned generation, lanes;
  bool operator==(const PcieLink&) const = default;
};

/// A process with a context on the GPU.
struct GpuProcess {
  unsigned pid = 0;
  std::optional<std::uint64_t> memory_bytes;
  bool operator==(const GpuProcess&) const = default;
};

class GpuSensors {
 public:
  /// Throws Error if the driver has no GPU at `bus_id`.
  GpuSensors(std::shared_ptr<const Nvml> nvml, std::string_view bus_id);

  const std::shared_ptr<const Nvml>& nvml() const { return nvml_; }
  NvmlDevice handle() const { return device_; }

  std::string name() const;
  /// "GPU-5e1c...": of the card, in whatever slot it is; empty if not told.
  std::string uuid() const;
  std::optional<NvmlMemory> memory() const;
  std::optional<double> sm_clock_hz() const;
  std::optional<double> max_sm_clock_hz() const;
  std::optional<double> memory_clock_hz() const;
  std::optional<double> max_memory_clock_hz() const;
  /// Theoretical peak in bytes per second.
  std::optional<double> peak_bandwidth() const;
  std::optional<double> temperature_c() const;
  /// The current power, or the mean of the last second if the driver reports only that.
  std::optional<double> power_w() const;
  std::optional<double> power_limit_w() const;
  /// The limit that the card has unless somebody changes it.
  std::optional<double> default_power_limit_w() const;
  /// Whether the driver stays loaded while no program uses the GPU.
  std::optional<bool> persistence() const;
  /// Since the driver was loaded.
  std::optional<double> energy_j() const;
  std::optional<std::uint64_t> throttle_reasons() const;
  /// Share of the driver's last sample period (1/6 s to 1 s) in which any kernel ran; not a measure of utilization.
  std::optional<double> active_share() const;
  std::optional<PcieLink> link() const;
  std::optional<PcieLink> max_link() const;
  std::optional<bool> ecc() const;
  std::optional<std::uint64_t> uncorrected_errors() const;
  std::optional<bool> mig() const;
  /// All processes that compute, including this one.
  std::optional<std::vector<GpuProcess>> processes() const;

 private:
  template <class Value, class Function, class... Arguments>
  std::optional<Value> ask(Function* function, Arguments... arguments) const {
    Value value{};
    if (function == nullptr || function(device_, arguments..., &value) != nvml_success) return std::nullopt;
    return value;
  }
  const NvmlFunctions& functions() const { return nvml_->functions(); }

  std::shared_ptr<const Nvml> nvml_;
  NvmlDevice device_;
};

/// Reasons that are no throttling: the GPU is idle; clocks that somebody has set.
inline constexpr std::uint64_t gpu_idle_reason = 0x1, chosen_clocks_reason = 0x2;
/// Normal under load.
inline constexpr std::uint64_t power_limit_reason = 0x4;

/// Why a GPU is throttled, "power limit, thermal slowdown": without the idle state and user-chosen clocks, which are no
/// throttling. Empty if no reason is left.
std::string throttle_words(std::uint64_t reasons);
/// The reasons that make a measurement worthless: slowdowns by the hardware, heat or the power brake. The power limit
/// is not among them: it is normal operation.
std::uint64_t harmful(std::uint64_t reasons);

}  // namespace gpubench
