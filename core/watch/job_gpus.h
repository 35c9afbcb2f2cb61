// The GPUs that a job computes on, by NVML from outside: whether they were slowed down or shared while it ran. gpubench
// makes no context on them.
#pragma once
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/telemetry/nvml/neighbours.h"

namespace gpubench {

/// What was seen of a GPU while processes of the job computed on it.
struct JobGpu {
  GpuSensors sensors;
  std::string name{};
  std::size_t readings = 0;
  std::size_t throttled = 0;  ///< readings at which the hardware, heat or the power brake had lowered its clocks
  std::uint64_t reasons = 0;  ///< of these, NVML's bits
  double lowest_sm_clock_hz = 0, highest_temperature_c = 0;  ///< 0: not told
  std::vector<Neighbour> others{};                           ///< processes that computed on it and are not the job's
};

class JobGpus {
 public:
  /// `bus_ids`: of the machine's GPUs, by default those that NVIDIA's driver lists. Without NVML there are none.
  explicit JobGpus(const NvmlAccess& access, std::span<const std::string> bus_ids);
  static std::vector<std::string> bus_ids(const std::filesystem::path& driver = "/proc/driver/nvidia/gpus");

  /// `job`: processes of the job, sorted. In a container NVML may give other numbers: then nothing is told. Does
  /// nothing within a second of the last reading, since asking a driver for processes takes milliseconds.
  void read(std::span<const int> job, Clock::time_point now = Clock::now());
  /// Those that the job has computed on.
  std::vector<JobGpu> used() const;

 private:
  std::vector<JobGpu> gpus_;
  Clock::time_point next_{};
};

}  // namespace gpubench
