#include "core/backend/cpu/address_space.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <malloc.h>
#include <optional>
#include <sys/resource.h>
#include <unistd.h>

#include "core/base/error.h"
#include "core/base/units.h"

namespace gpubench::cpu {
namespace {

/// oneDNN generates its float32 products at their first run, in every worker thread: some 25 MB with two of them. 64
/// MiB are for these, and 64 MiB for the arena of malloc that worker threads share.
constexpr double needed_bytes = 128 << 20;

double used_bytes() {
  double pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<double>(sysconf(_SC_PAGESIZE));
}

/// None: there is no limit.
std::optional<double> limit_of_address_space() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  return static_cast<double>(limit.rlim_cur);
}

}  // namespace

void limit_arenas() {
  if (limit_of_address_space()) mallopt(M_ARENA_MAX, 2);
}

void require_address_space() {
  const std::optional<double> allowed = limit_of_address_space();
  if (!allowed) return;
  const double left = std::max(0.0, *allowed - used_bytes());
  if (left >= needed_bytes) return;
  throw OutOfMemory(fmt::format(
      "cpu: the limit of {} on this process's address space (ulimit -v) leaves {}; generated kernels may need {}",
      format_bytes(*allowed), format_bytes(left), format_bytes(needed_bytes)));
}

}  // namespace gpubench::cpu
