#include "core/telemetry/nvml/neighbours.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/units.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {

std::vector<Neighbour> neighbours(std::span<const GpuProcess> processes, unsigned own,
                                  const std::filesystem::path& proc) {
  std::vector<Neighbour> others;
  for (const GpuProcess& process : processes) {
    if (process.pid == own) continue;
    std::string name = read_small_file(proc / std::to_string(process.pid) / "comm");
    if (name.ends_with('\n')) name.pop_back();
    others.push_back({process, std::move(name)});
  }
  if (others.size() < processes.size()) return others;
  const auto unseen = std::ranges::find(others, "", &Neighbour::name);
  if (unseen != others.end()) others.erase(unseen);
  return others;
}

std::string to_string(const Neighbour& neighbour) {
  std::string text =
      fmt::format("{} (process {}", neighbour.name.empty() ? "unknown" : neighbour.name, neighbour.process.pid);
  if (neighbour.process.memory_bytes) {
    text += ", " + format_bytes(static_cast<double>(*neighbour.process.memory_bytes));
  }
  return text + ")";
}

std::string to_string(std::span<const Neighbour> neighbours) {
  std::string text;
  for (const Neighbour& one : neighbours) {
    if (!text.empty()) text += ", ";
    text += to_string(one);
  }
  return text;
}

std::vector<Neighbour> neighbours_on(const GpuSensors& sensors) {
  return neighbours(sensors.processes().value_or(std::vector<GpuProcess>{}), static_cast<unsigned>(::getpid()));
}

}  // namespace gpubench
