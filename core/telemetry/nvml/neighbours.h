// Who else computes on a GPU. A measurement on a shared one is worth nothing.
#pragma once
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "core/telemetry/nvml/gpu_sensors.h"

namespace gpubench {

struct Neighbour {
  GpuProcess process;
  std::string name;  ///< empty for a process that this one cannot see
};

/// All but the process `own`. In a container the driver may number processes as the host does: where `own` is not among
/// them, one that `proc` does not show is taken for ourselves.
std::vector<Neighbour> neighbours(std::span<const GpuProcess> processes, unsigned own,
                                  const std::filesystem::path& proc = "/proc");
/// "python3 (process 17, 1.5 GiB)".
std::string to_string(const Neighbour& neighbour);
/// Separated by commas.
std::string to_string(std::span<const Neighbour> neighbours);

/// Those on the GPU now, as this process sees them.
std::vector<Neighbour> neighbours_on(const GpuSensors& sensors);

}  // namespace gpubench
