// What /proc tells of one process, read with few system calls: a tree of processes is read several times a second.
#pragma once
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

namespace gpubench {

/// Amounts since the start of the process.
struct ProcessReading {
  int process = 0;
  int parent = 0;
  std::uint64_t started_ticks = 0;  ///< since the machine's start; tells a process from a later one of the same number
  bool has_ended = false;           ///< its parent has not waited for it yet
  double cpu_s = 0;                 ///< of all threads, those that have ended included
  double reaped_cpu_s = 0;          ///< of children that have ended and were waited for
  double major_faults = 0;          ///< pages that had to be read from storage
  double reaped_major_faults = 0;
  double threads = 0;
  double resident_bytes = 0;
  double private_bytes = 0;  ///< of it neither files nor shared memory; forked processes share it until they write
  /// Read from storage; and by calls such as read(2), what the page cache had included. With those of children that
  /// were waited for. Empty where the process may not be looked into.
  std::optional<double> storage_bytes, asked_bytes;
  /// Of each thread, by number: nanoseconds in which it was ready to run and had no processor. Empty where the kernel
  /// does not tell.
  std::vector<std::pair<int, std::uint64_t>> delays_ns;
};

/// `proc`: where the process file system is mounted. nullopt if there is no such process any more.
std::optional<ProcessReading> read_process(const std::filesystem::path& proc, int process);
/// Only process, parent, started_ticks, processor time and faults.
std::optional<ProcessReading> read_process_stat(const std::filesystem::path& proc, int process);

/// The numbers that name folders in it (processes in /proc, threads in /proc/PID/task), sorted.
std::vector<int> numbered_folders(const std::filesystem::path& folder);

}  // namespace gpubench
