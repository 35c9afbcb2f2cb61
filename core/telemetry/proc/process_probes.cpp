#include "core/telemetry/proc/process_probes.h"

#include <array>
#include <cassert>
#include <ctime>
#include <limits>
#include <sstream>
#include <unistd.h>

#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

constexpr std::array<std::string_view, 4> cpu_columns = {"cpu_process_share", "cpu_machine_share",
                                                         "context_switches_per_s", "involuntary_switches_per_s"};
constexpr double no_cpu_value = std::numeric_limits<double>::quiet_NaN();

double ticks_per_second() {
  return static_cast<double>(::sysconf(_SC_CLK_TCK));
}

// User and system time of all threads, in nanoseconds where /proc counts ticks of 10 ms.
double process_seconds() {
  timespec time{};
  if (clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) != 0) return no_cpu_value;
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double online_cpus() {
  return static_cast<double>(::sysconf(_SC_NPROCESSORS_ONLN));
}

struct MachineTime {
  double busy_s = no_cpu_value;
  double total_s = no_cpu_value;
};

// The line "cpu user nice system idle iowait irq softirq steal ..." of proc(5)'s stat; guest time is part of user time.
// Stolen time counts as busy: the CPU was not free.
MachineTime machine_time(const std::string& stat) {
  std::istringstream fields(stat);
  std::string label;
  std::array<double, 8> ticks{};
  if (!(fields >> label) || label != "cpu") return {};
  double total = 0;
  for (double& tick : ticks) {
    if (!(fields >> tick)) return {};
    total += tick;
  }
  const double idle = ticks[3] + ticks[4];
  return {(total - idle) / ticks_per_second(), total / ticks_per_second()};
}

double number_after(const std::string& text, std::string_view key) {
  return leading_number(field_after(text, key)).value_or(no_cpu_value);
}

double share(double part, double whole) {
  return whole > 0 ? part / whole : no_cpu_value;
}

constexpr std::array<std::string_view, 2> memory_columns = {"resident_memory_bytes", "resident_memory_peak_bytes"};

}  // namespace

CpuProbe::CpuProbe(std::filesystem::path proc) : proc_(std::move(proc)), last_(take()) {}

std::span<const std::string_view> CpuProbe::columns() const {
  return cpu_columns;
}

CpuProbe::Reading CpuProbe::take() const {
  const MachineTime machine = machine_time(read_small_file(proc_ / "stat"));
  const std::string status = read_small_file(proc_ / "self/status");
  return {.process_s = process_seconds(),
          .machine_busy_s = machine.busy_s,
          .machine_total_s = machine.total_s,
          .voluntary = number_after(status, "voluntary_ctxt_switches"),
          .involuntary = number_after(status, "nonvoluntary_ctxt_switches")};
}

void CpuProbe::read(std::span<double> values) {
  assert(values.size() == cpu_columns.size());
  const Reading now = take();
  const double wall_s = since_.restart().count();
  const double machine_s = now.machine_total_s - last_.machine_total_s;
  values[0] = share(now.process_s - last_.process_s, wall_s * online_cpus());
  values[1] = share(now.machine_busy_s - last_.machine_busy_s, machine_s);
  values[2] = share(now.voluntary + now.involuntary - last_.voluntary - last_.involuntary, wall_s);
  values[3] = share(now.involuntary - last_.involuntary, wall_s);
  last_ = now;
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

std::optional<double> bytes_read_from_storage(const std::filesystem::path& proc) {
  return leading_number(field_after(read_small_file(proc / "self/io"), "read_bytes"));
}

}  // namespace gpubench
