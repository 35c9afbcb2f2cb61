// What other programs and the hypervisor took from this process between two instants. Threads that were ready to run
// and did not may have waited for threads of the same run, so what was lost is never more than what others used.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/base/waiting.h"
#include "core/telemetry/sampler.h"

namespace gpubench {

/// From this lost_share on, a point counts as disturbed. On an idle virtual machine of 2 processors, trainings of 0.3 s
/// lost 4.3 % or less (daemons, and ticks) with 1, 2 or 6 threads; beside one busy loop, those with 2 threads lost 40 %
/// or more, and those with 1 thread, for which a processor was left, 3.4 % in the median and up to 29 %.
inline constexpr double disturbed_share = 0.05;

inline constexpr Seconds longest_wait_for_idle_machine{86400.0};

/// Of all threads of a process, those that have ended included.
struct ProcessUse {
  double cpu_s = 0;
  double involuntary_switches = 0;
};
/// Of this process, from getrusage.
ProcessUse own_use();

/// The processors that this process may run on; empty if the system does not tell.
std::vector<int> allowed_processors();

/// Of one processor since the machine was started.
struct ProcessorTimes {
  double busy_s = 0;
  double idle_s = 0;
  double stolen_s = 0;
};
/// By number: those of `processors`, or all if that is empty. `root`: the root of the file system. Counted in ticks of
/// 10 ms.
std::map<int, ProcessorTimes> processor_times(const std::filesystem::path& root, std::span<const int> processors);
/// What passed between two readings, summed over the processors that both have.
ProcessorTimes passed_between(const std::map<int, ProcessorTimes>& before, const std::map<int, ProcessorTimes>& now);

/// Where readings come from; tests pass files of their own.
struct ContentionSources {
  /// The root of the file system, with proc/ and sys/.
  std::filesystem::path root = "/";
  std::function<ProcessUse()> own = &own_use;
  /// Other programs and steal count on these processors; all of the machine if empty.
  std::vector<int> processors = allowed_processors();
  /// Process ids of the same run's other processes on these processors: they are no other programs.
  std::vector<int> neighbours = {};
};

/// Amounts since the previous reading. The threads' times are read for each thread, so read several times a second: of
/// a thread that has ended, what follows its last reading is unknown.
class ContentionProbe final : public Probe {
 public:
  explicit ContentionProbe(ContentionSources sources);

  std::string_view name() const override { return "contention"; }
  std::span<const std::string_view> columns() const override;
  void read(std::span<double> values) override;

 private:
  struct Reading {
    ProcessUse own;
    double neighbours_s = 0;
    std::map<int, std::uint64_t> delays_ns;  // of each thread
    std::map<int, ProcessorTimes> processors;
  };
  Reading take() const;
  double neighbours_time() const;
  std::map<int, std::uint64_t> delays_ns() const;
  double clock_since(const Reading& before, const Reading& now) const;

  ContentionSources sources_;
  Reading last_;
};

/// Between a sampler's begin() and end(). What the system does not tell is absent.
struct Contention {
  /// The share of the processor time that this process wanted and did not get: taken / (cpu_s + taken), where
  /// taken = min(delayed_s, other programs' processor time) + stolen time. Of both, this process's part: other programs
  /// take from all processes of the run, and the hypervisor from all programs. Other programs' time counts less a tick
  /// of 10 ms times the root of the number of processors, which may be rounding. Without delayed_s, they took what they
  /// used beyond the time that processors were idle.
  std::optional<double> lost_share;
  /// Of the time of the processors that this process may use: used by other programs, and by the hypervisor for others.
  std::optional<double> others_share, stolen_share;
  /// Time that threads of this process were ready to run and did not, whoever ran instead; summed over the threads.
  std::optional<double> delayed_s;
  /// Processor time of this process.
  std::optional<double> cpu_s;
  std::optional<double> involuntary_switches;
  /// Mean clock of the processors, weighted with the time that they were busy.
  std::optional<double> clock_hz;

  /// Other programs use less than 5 % of the processors, the hypervisor takes less than 1 %.
  bool is_idle() const;
};

/// `readings`: of a ContentionProbe.
Contention contention_of(const Readings& readings);

/// A sampler of contention. Reading takes at most 0.25 % of a core, because it is done more rarely where it takes long
/// (many threads, many processors).
std::unique_ptr<Sampler> contention_sampler(ContentionSources sources,
                                            std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());

/// Waits until the processors are idle for a second, but for this process, and at most `limit`. Returns the last
/// reading: is_idle() says whether they were; without any figure if the limit is 0. Throws Interrupted, TimedOut, and
/// Error if the process file system does not tell how busy the processors are.
Contention wait_for_idle_machine(ContentionSources sources, Seconds limit, Ticker& ticker);

}  // namespace gpubench
