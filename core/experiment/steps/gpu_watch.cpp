#include "core/experiment/steps/gpu_watch.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <functional>
#include <limits>

#include "core/base/error.h"
#include "core/telemetry/nvml/gpu_probe.h"
#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {
namespace {

// Drivers refresh the energy counter every 20 to 100 ms. Below this duration it is off by more than 10 %, and the mean
// of power readings, which are averages themselves, is more accurate.
constexpr Seconds energy_counter_suffices{1.0};

double mean_power(const Readings& readings) {
  const double energy_j = readings.total("energy_j");
  if (std::isfinite(energy_j) && readings.duration() >= energy_counter_suffices) {
    return energy_j / readings.duration().count();
  }
  return readings.mean("power_w");
}

bool has(std::span<const Neighbour> known, const Neighbour& one) {
  return std::ranges::any_of(known, [&](const Neighbour& other) { return other.process.pid == one.process.pid; });
}

}  // namespace

GpuWatch::GpuWatch(std::span<const WatchedGpu> gpus, const NvmlAccess& access, SamplerOptions options,
                   std::shared_ptr<Ticker> ticker) {
  std::vector<std::unique_ptr<Probe>> probes;
  for (const WatchedGpu& gpu : gpus) {
    if (!access.nvml) break;
    try {
      const GpuSensors sensors(access.nvml, gpu.bus_id);
      probes.push_back(std::make_unique<GpuProbe>(sensors, [ticker] { return ticker->now(); }));
      gpus_.push_back({gpu.device, sensors, gpu.slice, {}});
    } catch (const Error&) {  // a driver may hide a GPU from NVML that CUDA uses
      continue;
    }
  }
  sampler_ = std::make_unique<Sampler>(std::move(probes), options, std::move(ticker));
}

void GpuWatch::begin() {
  for (Gpu& gpu : gpus_) gpu.neighbours.clear();
  look_for_neighbours();
  sampler_->begin();
}

void GpuWatch::end() {
  sampler_->end();
  look_for_neighbours();
}

void GpuWatch::look_for_neighbours() {
  for (Gpu& gpu : gpus_) {
    if (gpu.slice) continue;
    for (Neighbour& one : neighbours_on(gpu.sensors)) {
      if (!has(gpu.neighbours, one)) gpu.neighbours.push_back(std::move(one));
    }
  }
}

template <class Figure, class Combine>
double GpuWatch::of_all(const Figure& figure, const Combine& combine) const {
  const std::span<const Readings> readings = sampler_->readings();
  if (readings.empty()) return std::numeric_limits<double>::quiet_NaN();
  double result = figure(readings.front());
  for (const Readings& one : readings.subspan(1)) {
    const double value = figure(one);
    result = std::isnan(value) || std::isnan(result) ? value + result : combine(result, value);
  }
  return result;
}

std::uint64_t GpuWatch::throttle_reasons() const {
  std::uint64_t reasons = 0;
  for (const Readings& readings : sampler_->readings()) reasons |= readings.any_bit("throttle_bits");
  return reasons;
}

void GpuWatch::describe(Record& record, double examples) const {
  if (gpus_.empty()) return;
  const auto lowest = [](double a, double b) { return std::min(a, b); };
  const auto highest = [](double a, double b) { return std::max(a, b); };
  const auto mean_of = [](const char* column) {
    return [column](const Readings& readings) { return readings.mean(column); };
  };
  const bool whole = std::ranges::none_of(gpus_, &Gpu::slice);
  if (whole) {
    const double power = of_all(mean_power, std::plus<>());
    record.set_measured("power_w", power);
    record.set_measured("energy_j_per_example", power * sampler_->readings().front().duration().count() / examples);
  }
  record.set_measured("sm_clock_hz", of_all(mean_of("sm_clock_hz"), lowest));
  record.set_measured("memory_clock_hz", of_all(mean_of("memory_clock_hz"), lowest));
  record.set_measured("temperature_c",
                      of_all([](const Readings& readings) { return readings.highest("temperature_c"); }, highest));
  if (const std::string words = throttle_words(throttle_reasons()); !words.empty()) record.set("throttle", words);

  const auto count = static_cast<double>(gpus_.size());
  for (const char* column : {"nvml_active_share", "sm_share", "tensor_share", "dram_share"}) {
    if (!whole) break;
    const auto mean = [column](const Readings& readings) { return readings.mean_of_intervals(column); };
    record.set_measured(column, of_all(mean, std::plus<>()) / count);
  }
  record.set_measured("telemetry_share", sampler_->cost_share());
}

Doubt GpuWatch::doubt() const {
  for (std::size_t i = 0; i < gpus_.size(); ++i) {
    const std::uint64_t reasons = harmful(sampler_->readings()[i].any_bit("throttle_bits"));
    if (reasons == 0) continue;
    return {DoubtKind::slow_gpu, fmt::format("{} was slowed down: {}", gpus_[i].device, throttle_words(reasons))};
  }
  for (const Gpu& gpu : gpus_) {
    if (gpu.neighbours.empty()) continue;
    return {DoubtKind::shared_gpu,
            fmt::format("{} is shared with {}", gpu.device, to_string(std::span(gpu.neighbours)))};
  }
  return {};
}

}  // namespace gpubench
