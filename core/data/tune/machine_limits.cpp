#include "core/data/tune/machine_limits.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <mutex>
#include <optional>
#include <sched.h>
#include <string>
#include <unistd.h>

#include "core/base/clock.h"
#include "core/base/group_limits.h"

namespace gpubench {
namespace {

int cores_of_affinity() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) return CPU_COUNT(&allowed);
  return static_cast<int>(std::max(::sysconf(_SC_NPROCESSORS_ONLN), 1L));
}

int cores_of_quota(const GroupLimits& limits) {
  const auto quota = limits.processors;
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

struct Limits {
  int cores_of_quota;
  double free_memory;
};

Limits read_limits() {
  const GroupLimits group = group_limits();
  double free = available_memory();
  if (group.memory_bytes) free = std::min(free, *group.memory_bytes - group.memory_used_bytes);
  return {cores_of_quota(group), free};
}

/// Read once a second at most: every epoch asks, and an epoch of a small dataset takes a few milliseconds, of which
/// reading some twenty files would be a tenth.
Limits recent_limits() {
  static std::mutex mutex;
  static std::optional<Limits> limits;
  static Clock::time_point read_at;
  const std::lock_guard lock(mutex);
  const Clock::time_point now = Clock::now();
  if (!limits || now - read_at > std::chrono::seconds(1)) {
    limits = read_limits();
    read_at = now;
  }
  return *limits;
}

}  // namespace

int schedulable_cores() {
  return std::min(cores_of_affinity(), recent_limits().cores_of_quota);
}

std::int64_t free_memory() {
  return static_cast<std::int64_t>(std::max(recent_limits().free_memory, 0.0));
}

}  // namespace gpubench
