// A command that runs as if gpubench were not there: it has the same standard streams, terminal, process group and
// session, and the same signals. gpubench is only its parent, and stays until it has ended.
//
//   Job job({.words = {"python", "train.py"}, .python_path = agent, .settings = {"GPUBENCH_AGENT=" + folder}});
//   while (job.wait_until(tree.next_read())) tree.read();
//   end_as(job.end());
#pragma once
#include <array>
#include <csignal>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

struct JobCommand {
  /// Program and arguments. A program without '/' is looked up on the PATH.
  std::vector<std::string> words;
  /// Put first on the job's PYTHONPATH; empty: none.
  std::filesystem::path python_path = {};
  /// "NAME=VALUE" beside this process' environment, or in the place of what it has.
  std::vector<std::string> settings = {};
  /// Its standard streams are /dev/null.
  bool is_quiet = false;
  /// Names of variables that the job does not get, such as those that gpubench has set for itself.
  std::vector<std::string> removed = {};
};

/// How the job's own process ended.
struct JobEnd {
  int status = 0;  ///< exit status; 0 if a signal ended it
  int signal = 0;  ///< that ended it; 0: none
  /// Of it and all children that were waited for.
  double cpu_s = 0;
  double resident_peak_bytes = 0;  ///< of the largest of them
  int asked = 0;                   ///< the last signal that asked it to end, as watch_job() sets it; 0: none

  /// As shells have it: the exit status, or 128 + the signal.
  int shell_status() const { return signal != 0 ? 128 + signal : status; }
};

enum class JobState {
  runs,
  left,   ///< its own process has ended; processes that it has started still run
  ended,  ///< all its processes have ended
};

/// While it lives, signals do not end this process. SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 of other programs are sent on
/// to the job's own process. One that was sent to the whole process group (timeout(1)) reaches it twice, because a
/// receiver cannot tell; but a second SIGINT would interrupt what a program does at the first, so SIGINT and SIGQUIT
/// are sent on only if they come from another process group, and not from the terminal, which sends them to the job
/// too.
///
/// This process becomes the parent of what the job leaves behind (PR_SET_CHILD_SUBREAPER), and waits for every child
/// that ends, so nothing else may wait for children meanwhile. One job at a time. Processes that are left when it is
/// destroyed after the job's own process has ended go on; before, it ends them.
class Job {
 public:
  /// Starts it. Throws Error if there is no such program, or if it cannot be executed.
  explicit Job(const JobCommand& command);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// The job's own process.
  int process() const { return process_; }
  JobState poll();
  /// Blocks until then, or until the job's own process has ended if it runs, or until all have ended if some are left.
  /// Whether any of its processes run.
  bool wait_until(Clock::time_point time);
  /// Of the job's own process; nothing while it runs.
  const std::optional<JobEnd>& own_end() const { return end_; }

  /// Processes of the job that run, its own included. Looks through /proc: a few milliseconds.
  std::vector<int> processes() const;
  /// Ends it: SIGTERM to its own process, to all others when that has ended or half of `grace` is over, and SIGKILL to
  /// what is left then. Returns false if something is still there a second later: a process that waits for a disk, or
  /// that may not be ended by this user. Blocks.
  bool end(Seconds grace);
  /// The last signal that asked the job to end (SIGTERM, SIGHUP, SIGINT, SIGQUIT), whoever has sent it on; 0: none.
  int signal_seen() const;
  /// The same of signals that came when the job's own process had ended already: they reach nobody but this process.
  int signal_since_end() const;

 private:
  void reap();
  void sleep_until(Clock::time_point time) const;
  bool end_all(int signal) const;

  static constexpr std::array signals{SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
  std::array<struct sigaction, signals.size()> before_{};
  int was_subreaper_ = 0;
  int process_ = 0;
  int descriptor_ = -1;  // of the process; becomes readable at its end
  bool has_others_ = false;
  std::optional<JobEnd> end_;
};

/// Ends this process with the same status, or by the same signal, without a core file of its own.
[[noreturn]] void end_as(const JobEnd& end);

}  // namespace gpubench
