#include "core/data/tune/machine_limits.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <sched.h>
#include <string>
#include <unistd.h>

#include "core/device/group_limits.h"

namespace gpubench {
namespace {

int cores_of_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

int cores_of_quota() {
  const auto quota = group_limits().processors;
  if (!quota || *quota > std::numeric_limits<int>::max()) return std::numeric_limits<int>::max();
  return std::max(static_cast<int>(std::ceil(*quota)), 1);
}

double available_memory() {
  constexpr double kibibyte = 1024.0;
  std::ifstream file("/proc/meminfo");
  for (std::string name, unit; file >> name;) {
    double value = 0.0;
    file >> value;
    std::getline(file, unit);
    if (name == "MemAvailable:") return value * kibibyte;
  }
  return static_cast<double>(::sysconf(_SC_AVPHYS_PAGES)) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

int schedulable_cores() {
  return std::min(cores_of_affinity(), cores_of_quota());
}

std::int64_t free_memory() {
  double free = available_memory();
  const GroupLimits limits = group_limits();
  if (limits.memory_bytes) free = std::min(free, *limits.memory_bytes - limits.memory_used_bytes);
  return static_cast<std::int64_t>(std::max(free, 0.0));
}

}  // namespace gpubench
