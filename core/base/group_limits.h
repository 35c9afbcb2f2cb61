// What the control group of this process (a container, a systemd slice, a job) lets it use. Versions 1 and 2.
#pragma once
#include <filesystem>
#include <optional>

namespace gpubench {

/// Of the group and of all groups around it, the tightest; absent: no limit, or none that this process can read.
struct GroupLimits {
  /// CPU time per time: 1.5 is one and a half processors.
  std::optional<double> processors;
  /// With the memory that the limiting group uses now, without the pages of files, which the system takes back.
  std::optional<double> memory_bytes;
  double memory_used_bytes = 0;
};

/// `root`: the root directory; tests pass their own.
GroupLimits group_limits(const std::filesystem::path& root = "/");

/// Seconds in which processors had work of the group and stood still because its quota of processor time was used up,
/// summed over processors, since the group was made. Of the group and all groups around it, the largest; nullopt if
/// none of them tells.
std::optional<double> group_throttled_s(const std::filesystem::path& root = "/");

}  // namespace gpubench
