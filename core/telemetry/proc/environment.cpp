#include "core/telemetry/proc/environment.h"

#include <optional>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "core/base/host_name.h"
#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

void add(MachineFacts& facts, std::string name, std::string_view text) {
  if (!text.empty()) facts.emplace_back(std::move(name), std::string(text));
}

void add(MachineFacts& facts, std::string name, std::optional<double> number) {
  if (number) facts.emplace_back(std::move(name), *number);
}

void add_bytes(MachineFacts& facts, std::string name, std::optional<double> bytes) {
  if (bytes) facts.emplace_back(std::move(name), static_cast<std::int64_t>(*bytes));
}

std::string first_line(std::string text) {
  text.erase(std::min(text.find('\n'), text.size()));
  return text;
}

// PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"
std::string operating_system(const std::string& release) {
  constexpr std::string_view key_word = "PRETTY_NAME=\"";
  const std::size_t start = release.find(key_word);
  if (start == std::string::npos) return {};
  const std::size_t value = start + key_word.size();
  return release.substr(value, release.find('"', value) - value);
}

std::int64_t allowed_cpus() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return ::sysconf(_SC_NPROCESSORS_ONLN);
  return CPU_COUNT(&set);
}

}  // namespace

MachineFacts machine_facts(const std::filesystem::path& root) {
  MachineFacts facts;
  utsname kernel{};
  if (::uname(&kernel) == 0) {
    add(facts, "host", own_host_name());
    add(facts, "kernel", std::string(kernel.sysname) + " " + kernel.release + " " + kernel.machine);
  }
  // Eight of its digits tell machines apart; the whole is confidential (machine-id(5)).
  add(facts, "id", first_line(read_small_file(root / "etc/machine-id")).substr(0, 8));
  add(facts, "operating_system", operating_system(read_small_file(root / "etc/os-release")));

  const std::string cpuinfo = read_small_file(root / "proc/cpuinfo");
  add(facts, "cpu_model", field_after(cpuinfo, "model name"));
  facts.emplace_back("cpus", std::int64_t{::sysconf(_SC_NPROCESSORS_ONLN)});
  facts.emplace_back("cpus_allowed", allowed_cpus());
  add(facts, "cpu_mhz", leading_number(field_after(cpuinfo, "cpu MHz")));
  add(facts, "cpu_governor",
      first_line(read_small_file(root / "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")));
  const bool guest = field_after(cpuinfo, "flags").find(" hypervisor") != std::string_view::npos;
  add(facts, "virtual_machine", guest ? "yes" : "no");

  const std::string meminfo = read_small_file(root / "proc/meminfo");
  add_bytes(facts, "memory_bytes", bytes_after(meminfo, "MemTotal"));
  add_bytes(facts, "memory_available_bytes", bytes_after(meminfo, "MemAvailable"));
  add(facts, "load_1min", leading_number(read_small_file(root / "proc/loadavg")));
  return facts;
}

}  // namespace gpubench
