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

constexpr double not_counted = std::numeric_limits<double>::quiet_NaN();
constexpr double per_cent = 1e-2;
constexpr std::array wanted_metrics = {nvml_gpm_sm, nvml_gpm_tensor, nvml_gpm_dram};

bool device_supports(const NvmlFunctions& functions, NvmlDevice device) {
  if (functions.gpm_support == nullptr || functions.gpm_allocate == nullptr || functions.gpm_free == nullptr ||
      functions.gpm_sample == nullptr || functions.gpm_metrics == nullptr) {
    return false;
  }
  NvmlGpmSupport support{nvml_gpm_version, 0};
  return functions.gpm_support(device, &support) == nvml_success && support.is_supported != 0;
}

double share_in(const NvmlGpmMetric& metric) {
  return metric.result == nvml_success ? metric.value * per_cent : not_counted;
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

Gpm::Gpm(const GpuSensors& sensors, Clock::time_point now) : sensors_(sensors), taken_(now) {
  const NvmlFunctions& functions = sensors_.nvml()->functions();
  if (!device_supports(functions, sensors_.handle())) return;
  if (functions.gpm_allocate(&latest_) == nvml_success && functions.gpm_allocate(&spare_) == nvml_success &&
      take(latest_)) {
    return;
  }
  release();
}

Gpm::~Gpm() {
  release();
}

void Gpm::release() {
  for (NvmlGpmSample* sample : {&latest_, &spare_}) {
    if (*sample != nullptr) sensors_.nvml()->functions().gpm_free(*sample);
    *sample = nullptr;
  }
}

bool Gpm::take(NvmlGpmSample sample) const {
  return sensors_.nvml()->functions().gpm_sample(sensors_.handle(), sample) == nvml_success;
}

GpmShares Gpm::read(Clock::time_point now) {
  const GpmShares nothing{not_counted, not_counted, not_counted};
  if (!is_supported() || now - taken_ < min_interval || !take(spare_)) return nothing;
  metrics_->version = nvml_gpm_version;
  metrics_->count = wanted_metrics.size();
  metrics_->first = latest_;
  metrics_->second = spare_;
  for (std::size_t i = 0; i < wanted_metrics.size(); ++i) metrics_->metrics[i].id = wanted_metrics[i];
  const NvmlReturn result = sensors_.nvml()->functions().gpm_metrics(metrics_.get());
  std::swap(latest_, spare_);
  taken_ = now;
  if (result != nvml_success) return nothing;
  return {share_in(metrics_->metrics[0]), share_in(metrics_->metrics[1]), share_in(metrics_->metrics[2])};
}

}  // namespace gpubench
