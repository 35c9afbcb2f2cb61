// What the processes of a job use, sampled from outside through /proc while it runs, and what was left of the machine.
// Every figure is an amount between two readings, so that sums over any parts of the run can be asked for later.
//
//   JobTree tree(::getpid());  // what this process starts, as a Job does
//   while (job.wait_until(tree.next_read())) tree.read();
//   const JobUse use = tree.use(job_steps(rank).spans);
#pragma once
#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <vector>

#include "core/telemetry/proc/contention.h"
#include "core/watch/job_use.h"
#include "core/watch/process_reading.h"
#include "core/watch/time_span.h"

namespace gpubench {

struct JobTreeOptions {
  /// The root of the file system, with proc/ and sys/; tests pass their own.
  std::filesystem::path root = "/";
  /// Processors of which idle time and other programs count; all of the machine if empty.
  std::vector<int> processors = allowed_processors();
  /// Processor time of the reader itself, which is no other program.
  std::function<ProcessUse()> own = &own_use;
  Clock::duration period = std::chrono::milliseconds(125);
  /// Readings that take long (many threads, many processors) are further apart, so that they take at most this share of
  /// a processor.
  double most_of_core = 0.01;
  /// With more readings than this, neighbours are joined: a long run is kept more coarsely.
  std::size_t most_readings = 4096;
};

class JobTree {
 public:
  /// Takes the first reading. The job is all descendants of process `root`, but not `root`. Once a process belongs to
  /// it, it stays with it, whoever becomes its parent.
  explicit JobTree(int root, JobTreeOptions options = {}, Clock::time_point now = Clock::now());

  void read(Clock::time_point now = Clock::now());
  /// When the next reading is due.
  Clock::time_point next_read() const { return next_read_; }

  /// Processes at the last reading, sorted; those that have ended and were not waited for are not among them.
  std::vector<int> processes() const;
  /// Amounts within the spans, which must not overlap. Of a reading that lies in them in part, that part of its
  /// amounts.
  JobUse use(std::span<const TimeSpan> spans) const;
  JobUse use(const TimeSpan& span) const { return use(std::span(&span, 1)); }
  /// From the first reading to the last.
  TimeSpan sampled() const { return {begin_, last_at_}; }

 private:
  using Members = std::map<int, ProcessReading>;
  /// Amounts between two readings.
  struct Interval {
    TimeSpan span;
    std::vector<JobProcess> processes;
    double running_processes = 0;  // with those joined: processes times seconds over seconds
    double most_processes = 0, resident_bytes = 0, private_bytes = 0;
    std::optional<double> processors_s, idle_s, others_s, stolen_s, throttled_s;
    std::optional<double> group_memory_used_bytes;
    std::size_t readings = 1;
  };
  Members take_members();
  Interval interval_between(const Members& before, const Members& now, const TimeSpan& span);
  void set_machine(Interval& interval);
  static void join(Interval& first, const Interval& second);
  void join_neighbours();

  const int root_;
  const JobTreeOptions options_;
  Clock::time_point begin_, last_at_, next_read_;
  Members members_;
  std::optional<ProcessReading> root_reading_, root_before_;
  std::set<int> strangers_;  // processes that are known not to belong to the job
  std::map<int, ProcessorTimes> processors_;
  double own_s_ = 0;
  std::optional<double> throttled_s_;
  std::optional<double> group_memory_bytes_, group_memory_used_bytes_;
  std::size_t reads_ = 0;
  std::vector<Interval> intervals_;
};

}  // namespace gpubench
