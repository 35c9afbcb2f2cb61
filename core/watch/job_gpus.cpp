#include "core/watch/job_gpus.h"

#include <algorithm>
#include <chrono>

#include "core/base/error.h"

namespace gpubench {

std::vector<std::string> JobGpus::bus_ids(const std::filesystem::path& driver) {
  std::vector<std::string> ids;
  std::error_code none;
  for (std::filesystem::directory_iterator entry(driver, none), end; !none && entry != end; entry.increment(none))
    ids.push_back(entry->path().filename().string());
  std::ranges::sort(ids);
  return ids;
}

JobGpus::JobGpus(const NvmlAccess& access, std::span<const std::string> bus_ids) {
  if (!access.nvml) return;
  for (const std::string& bus_id : bus_ids) {
    try {
      JobGpu gpu{.sensors = GpuSensors(access.nvml, bus_id)};
      gpu.name = gpu.sensors.name();
      gpus_.push_back(std::move(gpu));
    } catch (const Error&) {  // a container may have some of the machine's GPUs
      continue;
    }
  }
}

void JobGpus::read(std::span<const int> job, Clock::time_point now) {
  constexpr std::chrono::seconds period{1};
  if (now < next_) return;
  next_ = now + period;
  for (JobGpu& gpu : gpus_) {
    const std::vector<GpuProcess> all = gpu.sensors.processes().value_or(std::vector<GpuProcess>{});
    const auto is_own = [&](const GpuProcess& process) {
      return std::ranges::binary_search(job, static_cast<int>(process.pid));
    };
    const auto own = std::ranges::find_if(all, is_own);
    if (own == all.end()) continue;
    ++gpu.readings;
    for (Neighbour& other : neighbours(all, own->pid)) {
      const auto is_known = [&](const Neighbour& one) { return one.process.pid == other.process.pid; };
      if (!is_own(other.process) && std::ranges::none_of(gpu.others, is_known)) gpu.others.push_back(std::move(other));
    }
    if (const std::uint64_t reasons = harmful(gpu.sensors.throttle_reasons().value_or(0)); reasons != 0) {
      ++gpu.throttled;
      gpu.reasons |= reasons;
    }
    if (const auto clock = gpu.sensors.sm_clock_hz())
      gpu.lowest_sm_clock_hz = gpu.lowest_sm_clock_hz > 0 ? std::min(gpu.lowest_sm_clock_hz, *clock) : *clock;
    gpu.highest_temperature_c = std::max(gpu.highest_temperature_c, gpu.sensors.temperature_c().value_or(0));
  }
}

std::vector<JobGpu> JobGpus::used() const {
  std::vector<JobGpu> used;
  for (const JobGpu& gpu : gpus_)
    if (gpu.readings > 0) used.push_back(gpu);
  return used;
}

}  // namespace gpubench
