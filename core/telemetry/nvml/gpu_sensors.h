// One GPU's readings in our units. What the device or its driver does not report is nullopt, whatever the reason.
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
  /// Throws Error where the driver has no GPU at `bus_id`.
  GpuSensors(std::shared_ptr<const Nvml> nvml, std::string_view bus_id);

  const std::shared_ptr<const Nvml>& nvml() const { return nvml_; }
  NvmlDevice handle() const { return device_; }

  std::string name() const;
  std::optional<NvmlMemory> memory() const;
  std::optional<double> sm_clock_hz() const;
  std::optional<double> max_sm_clock_hz() const;
  std::optional<double> memory_clock_hz() const;
  std::optional<double> max_memory_clock_hz() const;
  /// On paper, in bytes a second.
  std::optional<double> peak_bandwidth() const;
  std::optional<double> temperature_c() const;
  /// The present power; the mean of the last second where the driver reports no other.
  std::optional<double> power_w() const;
  std::optional<double> power_limit_w() const;
  /// Since the driver was loaded.
  std::optional<double> energy_j() const;
  std::optional<std::uint64_t> throttle_reasons() const;
  /// Share of the driver's last sample period, 1/6 s to 1 s, in which any kernel ran at all: no measure of use.
  std::optional<double> active_share() const;
  std::optional<PcieLink> link() const;
  std::optional<PcieLink> max_link() const;
  std::optional<bool> ecc() const;
  std::optional<std::uint64_t> uncorrected_errors() const;
  std::optional<bool> mig() const;
  /// All that compute, our own included.
  std::vector<GpuProcess> processes() const;

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

/// Why a GPU runs slower than it could, "power limit, thermal slowdown": without the idle state and the clocks that
/// somebody chose, which slow nothing down. Empty when there is no reason left.
std::string throttle_words(std::uint64_t reasons);
/// The reasons of which a measurement is worth nothing: slowdowns by the hardware, by heat or by the power brake. At
/// its power limit a GPU does what it is built for.
std::uint64_t harmful(std::uint64_t reasons);

}  // namespace gpubench
