// Other processes on a GPU, which make a measurement worthless.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {

struct Neighbour {
  GpuProcess process;
  std::string name;  ///< empty for a process that is invisible to this one
};

/// All processes but `own`. In a container the driver may report the host's process ids: if `own` is not in the list, a
/// process that `proc` does not show is taken for this one.
std::vector<Neighbour> neighbours(std::span<const GpuProcess> processes, unsigned own,
                                  const std::filesystem::path& proc = "/proc");
/// "python3 (process 17, 1.5 GiB)".
std::string to_string(const Neighbour& neighbour);
/// Comma-separated.
std::string to_string(std::span<const Neighbour> neighbours);

/// The neighbours on the GPU now, as visible to this process.
std::vector<Neighbour> neighbours_on(const GpuSensors& sensors);

}  // namespace gpubench
