#include "core/base/group_limits.h"

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Version 1 writes a number near 2^63 where there is no limit.
constexpr double unlimited_v1 = 1e18;

std::optional<double> number_in(const fs::path& path) {
  std::ifstream file(path);
  double value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

/// The group's folder and those of the groups around it. In a container the outermost is the container's own group.
std::vector<fs::path> levels(const fs::path& mount, const fs::path& own) {
  std::vector<fs::path> folders;
  for (fs::path level = own.relative_path().lexically_normal(); !level.empty(); level = level.parent_path())
    folders.push_back(mount / level);
  folders.push_back(mount);
  return folders;
}

/// The lines "ID:CONTROLLERS:PATH" of /proc/self/cgroup; version 2 has no controllers.
fs::path own_group(const fs::path& root, const std::string& controller) {
  std::ifstream file(root / "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    const std::size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    std::istringstream list(line.substr(first + 1, second - first - 1));
    std::string one;
    bool has = controller.empty() && second == first + 1;
    while (std::getline(list, one, ',')) has = has || (one == controller && !controller.empty());
    if (has) return line.substr(second + 1);
  }
  return {};
}

void tighten_processors(GroupLimits& limits, std::optional<double> quota, std::optional<double> period) {
  if (!quota || !period || *quota <= 0 || *period <= 0) return;
  const double processors = *quota / *period;
  if (!limits.processors || processors < *limits.processors) limits.processors = processors;
}

/// Of the lines "NAME BYTES" of memory.stat. `prefix`: version 1 names sums with the groups within "total_NAME".
double pages_of_files(const fs::path& folder, const std::string& prefix) {
  std::ifstream file(folder / "memory.stat");
  double sum = 0, value = 0;
  for (std::string name; file >> name >> value;) {
    if (name == prefix + "active_file" || name == prefix + "inactive_file") sum += value;
  }
  return sum;
}

void tighten_memory(GroupLimits& limits, std::optional<double> bytes, std::optional<double> used, double files) {
  if (!bytes || *bytes < 0 || *bytes > unlimited_v1) return;
  const double kept = std::max(used.value_or(0) - files, 0.0);
  if (limits.memory_bytes && *limits.memory_bytes - limits.memory_used_bytes <= *bytes - kept) return;
  limits.memory_bytes = bytes;
  limits.memory_used_bytes = kept;
}

void read_cpu_max(GroupLimits& limits, const fs::path& folder) {
  std::ifstream file(folder / "cpu.max");  // "max 100000" without a limit
  double quota = 0, period = 0;
  if (file >> quota >> period) tighten_processors(limits, quota, period);
}

/// Of the lines "NAME NUMBER" of cpu.stat.
void raise_throttled(std::optional<double>& seconds, const fs::path& folder, std::string_view field, double unit_s) {
  std::ifstream file(folder / "cpu.stat");
  double value = 0;
  for (std::string name; file >> name >> value;) {
    if (name == field) seconds = std::max(seconds.value_or(0), value * unit_s);
  }
}

}  // namespace

GroupLimits group_limits(const fs::path& root) {
  GroupLimits limits;
  const fs::path mount = root / "sys/fs/cgroup";
  for (const fs::path& folder : levels(mount, own_group(root, ""))) {
    read_cpu_max(limits, folder);
    tighten_memory(limits, number_in(folder / "memory.max"), number_in(folder / "memory.current"),
                   pages_of_files(folder, ""));
  }
  for (const fs::path& folder : levels(mount / "cpu", own_group(root, "cpu")))
    tighten_processors(limits, number_in(folder / "cpu.cfs_quota_us"), number_in(folder / "cpu.cfs_period_us"));
  for (const fs::path& folder : levels(mount / "memory", own_group(root, "memory"))) {
    tighten_memory(limits, number_in(folder / "memory.limit_in_bytes"), number_in(folder / "memory.usage_in_bytes"),
                   pages_of_files(folder, "total_"));
  }
  return limits;
}

std::optional<double> group_throttled_s(const fs::path& root) {
  std::optional<double> seconds;
  const fs::path mount = root / "sys/fs/cgroup";
  for (const fs::path& folder : levels(mount, own_group(root, "")))
    raise_throttled(seconds, folder, "throttled_usec", 1e-6);
  for (const fs::path& folder : levels(mount / "cpu", own_group(root, "cpu")))
    raise_throttled(seconds, folder, "throttled_time", 1e-9);
  return seconds;
}

}  // namespace gpubench
