// What this process may use: processors, memory, and the shared memory of processes.
#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <sstream>

#include "core/base/error.h"
#include "core/base/group_limits.h"
#include "core/base/units.h"
#include "core/doctor/checks.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

constexpr double gibibyte = 1ULL << 30;
/// Less than this, and neither a data set nor the buffers of a pipeline fit.
constexpr double least_memory = 2 * gibibyte;
/// For each GPU, whose processes exchange through it, and at least once.
constexpr double least_shared_memory = 64.0 * (1 << 20);

/// "Max address space  1073741824  unlimited  bytes" of proc(5)'s limits; nullopt: unlimited, or not told.
std::optional<double> address_space(const Machine& machine) {
  constexpr std::string_view label = "Max address space";
  std::istringstream lines(machine.read("proc/self/limits").text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(label)) return leading_number(std::string_view(line).substr(label.size()));
  }
  return std::nullopt;
}

struct Room {
  double bytes;
  std::string text;
};

void tighten(Room& room, double bytes, std::string text) {
  if (bytes < room.bytes) room = {bytes, std::move(text)};
}

}  // namespace

CheckResult check_cpu_limit(const Machine& machine) {
  const FileText file = machine.read("sys/devices/system/cpu/online");
  const std::vector<int> online = parse_processors(file.text);
  if (online.empty()) return unknown(file.was_read() ? "/sys/devices/system/cpu/online lists nothing" : file.error);
  const std::vector<int>& own = machine.sources().processors;
  if (own.empty()) return unknown("the system does not tell which processors this process may use");
  const auto quota = group_limits(machine.sources().root).processors;
  const auto count = static_cast<double>(own.size());
  if (quota && *quota < count) {
    return costs_speed(
        fmt::format("a quota of {:.3g} of {} that are visible (cpu.max of the control group)", *quota,
                    format_count(static_cast<std::int64_t>(own.size()), "processor")),
        "threads are stopped when the quota of each period is used up",
        fmt::format("--threads {:.0f}, or a larger quota: docker run --cpus", std::max(std::floor(*quota), 1.0)));
  }
  if (own.size() < online.size()) {
    return costs_speed(fmt::format("{} of {} processors may be used ({}: affinity or cpuset)", own.size(),
                                   online.size(), processors_text(own)),
                       "kernels on the CPU and input pipelines have fewer threads",
                       "start it without taskset, or ask the job or container for more processors");
  }
  return ok(fmt::format("all {} processors", online.size()));
}

CheckResult check_memory_limit(const Machine& machine) {
  const FileText meminfo = machine.read("proc/meminfo");
  const auto available = bytes_after(meminfo.text, "MemAvailable"), total = bytes_after(meminfo.text, "MemTotal");
  if (!available || !total) return unknown(meminfo.was_read() ? "/proc/meminfo has no MemAvailable" : meminfo.error);
  Room room{*available, fmt::format("of {}", format_bytes(*total))};
  const GroupLimits group = group_limits(machine.sources().root);
  if (group.memory_bytes) {
    tighten(room, *group.memory_bytes - group.memory_used_bytes,
            fmt::format("of {} of the control group (memory.max)", format_bytes(*group.memory_bytes)));
  }
  if (const auto limit = address_space(machine)) {
    const auto taken = bytes_after(machine.read("proc/self/status").text, "VmSize");
    tighten(room, *limit - taken.value_or(0), fmt::format("of {} of address space (ulimit -v)", format_bytes(*limit)));
  }
  const std::string found = fmt::format("{} {} are free", format_bytes(std::max(room.bytes, 0.0)), room.text);
  if (room.bytes >= least_memory) return ok(found);
  return costs_speed(found, "data sets and buffers do not fit: points run out of memory, or the machine swaps",
                     "end other programs, or raise the limit of the container, job or shell");
}

CheckResult check_shared_memory(const Machine& machine) {
  const auto space = machine.sources().space(machine.sources().root / "dev/shm");
  if (!space) {
    return costs_speed("there is no /dev/shm", "processes on one machine exchange through slower ways, or fail",
                       "mount it: mount -t tmpfs tmpfs /dev/shm");
  }
  const double needed = least_shared_memory * std::max<double>(1, static_cast<double>(machine.sources().gpus.size()));
  const auto free = static_cast<double>(space->available), all = static_cast<double>(space->capacity);
  const std::string found = fmt::format("{} of {} are free", format_bytes(free), format_bytes(all));
  if (free >= needed) return ok(found);
  return costs_speed(found, "several processes that train together fail, or exchange through slower ways",
                     all < needed ? "docker run --shm-size=1g, or --ipc=host" : "remove what fills /dev/shm");
}

}  // namespace gpubench
