#include "core/telemetry/nvml/gpu_probe.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <limits>
#include <utility>

namespace gpubench {
namespace {

constexpr double not_reported = std::numeric_limits<double>::quiet_NaN();
constexpr std::array<std::string_view, 10> gpu_columns = {
    "power_w",       "energy_j",          "temperature_c", "sm_clock_hz",  "memory_clock_hz",
    "throttle_bits", "nvml_active_share", "sm_share",      "tensor_share", "dram_share"};

template <class Value>
double number(const std::optional<Value>& value) {
  return value ? static_cast<double>(*value) : not_reported;
}

}  // namespace

GpuProbe::GpuProbe(GpuSensors sensors, std::function<Clock::time_point()> now)
    : sensors_(std::move(sensors)), now_(std::move(now)), last_energy_j_(sensors_.energy_j()), gpm_(sensors_, now_()) {}

std::span<const std::string_view> GpuProbe::columns() const {
  return gpu_columns;
}

double GpuProbe::energy_since_last() {
  const std::optional<double> before = std::exchange(last_energy_j_, sensors_.energy_j());
  return before && last_energy_j_ ? *last_energy_j_ - *before : not_reported;
}

void GpuProbe::read(std::span<double> values) {
  assert(values.size() == gpu_columns.size());
  const GpmShares shares = gpm_.read(now_());
  const std::array<double, gpu_columns.size()> readings = {number(sensors_.power_w()),
                                                           energy_since_last(),
                                                           number(sensors_.temperature_c()),
                                                           number(sensors_.sm_clock_hz()),
                                                           number(sensors_.memory_clock_hz()),
                                                           number(sensors_.throttle_reasons()),
                                                           number(sensors_.active_share()),
                                                           shares.sm,
                                                           shares.tensor,
                                                           shares.dram};
  std::ranges::copy(readings, values.begin());
}

}  // namespace gpubench
