#include "core/watch/process_reading.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <dirent.h>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>

#include "core/telemetry/proc/proc_file.h"

namespace gpubench {
namespace {

namespace fs = std::filesystem;

/// Numbers with blanks between them; stops at the first word that is none.
template <std::size_t count>
std::size_t read_numbers(std::string_view text, std::array<std::uint64_t, count>& numbers) {
  std::size_t found = 0;
  while (found < count) {
    text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    // Numbers below 0 (of priorities) are counted as 0.
    const bool is_negative = text.starts_with('-');
    if (is_negative) text.remove_prefix(1);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), numbers[found]);
    if (error != std::errc()) break;
    if (is_negative) numbers[found] = 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    ++found;
  }
  return found;
}

// Indices of proc(5)'s fields of stat behind the state, which is field 3.
enum StatField : std::size_t {
  parent_field = 0,
  major_faults_field = 8,
  reaped_major_faults_field = 9,
  user_field = 10,
  system_field = 11,
  reaped_user_field = 12,
  reaped_system_field = 13,
  threads_field = 16,
  start_field = 18,
  stat_fields = 19
};

void read_memory(const fs::path& folder, ProcessReading& reading) {
  static const auto page = static_cast<double>(::sysconf(_SC_PAGESIZE));
  std::array<std::uint64_t, 3> pages{};  // in all, resident, of it files and shared memory
  if (read_numbers(read_small_file(folder / "statm"), pages) != pages.size()) return;
  reading.resident_bytes = page * static_cast<double>(pages[1]);
  reading.private_bytes = page * static_cast<double>(pages[1] - std::min(pages[1], pages[2]));
}

// task/TID/schedstat: "ran delayed slices", in nanoseconds. A thread that ends meanwhile has no file any more.
void read_delays(const fs::path& folder, ProcessReading& reading) {
  const fs::path tasks = folder / "task";
  for (const int thread : numbered_folders(tasks)) {
    std::array<std::uint64_t, 2> times{};
    if (read_numbers(read_small_file(tasks / std::to_string(thread) / "schedstat"), times) == times.size())
      reading.delays_ns.emplace_back(thread, times[1]);
  }
}

}  // namespace

std::vector<int> numbered_folders(const fs::path& folder) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(folder.c_str()),
                                                    [](DIR* open) { return ::closedir(open); });
  while (entries) {
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr) break;
    const std::string_view name(entry->d_name);
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc() && end == name.data() + name.size() && number > 0) numbers.push_back(number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

// "pid (name) state ppid ...": the name may hold blanks, brackets and line breaks.
std::optional<ProcessReading> read_process_stat(const fs::path& proc, int process) {
  static const auto ticks = static_cast<double>(::sysconf(_SC_CLK_TCK));
  const std::string stat = read_small_file(proc / std::to_string(process) / "stat");
  const std::size_t name_end = stat.rfind(") ");
  if (name_end == std::string::npos || stat.size() < name_end + 4) return std::nullopt;
  const char state = stat[name_end + 2];
  std::array<std::uint64_t, stat_fields> fields{};
  if (read_numbers(std::string_view(stat).substr(name_end + 3), fields) != fields.size()) return std::nullopt;
  const auto seconds = [&](StatField user, StatField system) {
    return static_cast<double>(fields[user] + fields[system]) / ticks;
  };
  ProcessReading reading;
  reading.process = process;
  reading.parent = static_cast<int>(fields[parent_field]);
  reading.started_ticks = fields[start_field];
  reading.has_ended = state == 'Z' || state == 'X';
  reading.cpu_s = seconds(user_field, system_field);
  reading.reaped_cpu_s = seconds(reaped_user_field, reaped_system_field);
  reading.major_faults = static_cast<double>(fields[major_faults_field]);
  reading.reaped_major_faults = static_cast<double>(fields[reaped_major_faults_field]);
  reading.threads = static_cast<double>(fields[threads_field]);
  return reading;
}

std::optional<ProcessReading> read_process(const fs::path& proc, int process) {
  std::optional<ProcessReading> reading = read_process_stat(proc, process);
  if (!reading || reading->has_ended) return reading;
  const fs::path folder = proc / std::to_string(process);
  read_memory(folder, *reading);
  read_delays(folder, *reading);
  const std::string io = read_small_file(folder / "io");
  reading->storage_bytes = leading_number(field_after(io, "read_bytes"));
  reading->asked_bytes = leading_number(field_after(io, "rchar"));
  return reading;
}

}  // namespace gpubench
