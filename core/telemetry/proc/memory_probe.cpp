#include "core/telemetry/proc/memory_probe.h"

#include <array>
#include <cassert>
#include <limits>

#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {
constexpr std::array<std::string_view, 2> memory_columns = {"resident_memory_bytes", "resident_memory_peak_bytes"};
}

MemoryProbe::MemoryProbe(std::filesystem::path proc) : proc_(std::move(proc)) {}

std::span<const std::string_view> MemoryProbe::columns() const {
  return memory_columns;
}

void MemoryProbe::read(std::span<double> values) {
  assert(values.size() == memory_columns.size());
  constexpr double unknown_value = std::numeric_limits<double>::quiet_NaN();
  const std::string status = read_small_file(proc_ / "self/status");
  values[0] = bytes_after(status, "VmRSS").value_or(unknown_value);
  values[1] = bytes_after(status, "VmHWM").value_or(unknown_value);
}

}  // namespace gpubench
