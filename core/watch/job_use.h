// What a job used in a part of its time, process by process, and what was left of the machine.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gpubench {

/// What one process used.
struct JobProcess {
  int process = 0;
  int parent = 0;
  double cpu_s = 0;  ///< of all threads; with children that came and went between two readings
  /// Threads were ready to run and had no processor, summed over the threads. Of a thread that has ended, what follows
  /// its last reading is unknown.
  double delayed_s = 0;
  double major_faults = 0;  ///< pages that were read from storage
  /// Read from storage; and by calls such as read(2), pages in the cache included. Empty if the process may not be
  /// looked into, as one of another user.
  std::optional<double> storage_bytes = {}, asked_bytes = {};
  double resident_bytes = 0, private_bytes = 0, threads = 0;  ///< the highest
};

/// Of several processes together. Bytes are empty if they are unknown of one; of memory and threads it has the sums of
/// the processes' highest.
JobProcess sum_of(std::span<const JobProcess> processes);

struct JobUse {
  double seconds = 0;  ///< of the spans that were asked for, as far as they were sampled
  std::size_t readings = 0;
  /// All that ran then, by number.
  std::vector<JobProcess> processes;
  double mean_processes = 0, most_processes = 0;
  /// The highest sums over the processes of one reading. Files and shared memory count in each process.
  double resident_bytes = 0, private_bytes = 0;

  /// Time of the processors that the job may use: in all, idle, used by programs that are neither the job nor gpubench
  /// (less what may be rounding), taken by the hypervisor. Empty where /proc/stat does not tell.
  std::optional<double> processors_s, idle_s, others_s, stolen_s;
  /// Processors stood still because the control group's quota was used up, summed over processors.
  std::optional<double> throttled_s;
  /// Of the control group (core/base/group_limits.h); used: the highest.
  std::optional<double> group_memory_bytes, group_memory_used_bytes;

  JobProcess all() const { return sum_of(processes); }
  /// Those of them with these numbers: the ranks, or the workers of a loader.
  std::vector<JobProcess> of(std::span<const int> numbers) const;
  /// The share of the processor time that the job wanted and did not get because others had it
  /// (Contention::lost_share).
  std::optional<double> lost_share() const;
  /// Whether others had processors that the job wanted, so that its times are not its own: a twentieth of a processor
  /// at least, and of what it wanted.
  bool is_disturbed() const;
};

/// Adds `weight` times what the processes used; of memory and threads the highest stays. Both sorted by number.
void add_use(std::vector<JobProcess>& sums, std::span<const JobProcess> processes, double weight);

/// Sums that are empty until something is known.
void add_to(std::optional<double>& sum, std::optional<double> value, double weight = 1);

}  // namespace gpubench
