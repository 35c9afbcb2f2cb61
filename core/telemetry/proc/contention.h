// What other programs and the hypervisor took from this process between two instants. A busy machine does not only add
// scatter: it slows some measurements and not others, and each of them may look steady.
#pragma once
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "core/base/clock.h"
#include "core/base/waiting.h"

namespace gpubench {

/// Sums over an interval, in seconds of one processor. Absent where the kernel does not tell.
struct Contention {
  double wall_s = 0;
  double processors = 1;              ///< of the machine
  double cpu_s = 0;                   ///< time that this process ran
  std::optional<double> delayed_s{};  ///< time that its threads could run and did not, summed over threads
  std::optional<double> others_s{};   ///< time that other programs ran
  std::optional<double> stolen_s{};   ///< time that the hypervisor gave to other machines (steal)
  std::optional<double> involuntary_switches{};
  std::optional<double> clock_hz{};  ///< mean clock of the processors at the end

  /// Share of the processor time that this process wanted and others took: lost / (cpu + lost), where lost is the
  /// steal, and of the delay what others ran meanwhile. Threads of a process that wait for each other lose nothing to
  /// others. Absent where neither delay nor steal is known.
  std::optional<double> lost_share() const;
  /// Shares of all processors' time.
  std::optional<double> others_share() const;
  std::optional<double> stolen_share() const;
};

/// A measurement that lost more than this is disturbed. An idle virtual machine of 2 processors lost up to 1.5 % in
/// calls of 0.1 to 0.5 s (daemons, and ticks of 10 ms in /proc/stat); one busy program beside two threads takes 20 % or
/// more.
inline constexpr double disturbed_share = 0.03;
/// A machine is idle while other programs use less than this share of its processors, and a fifth of it is stolen.
inline constexpr double idle_share = 0.05;

/// Watches from begin() to end(). A thread of its own looks at the process's threads now and then, since what the
/// kernel knows of a thread goes with it.
class ContentionWatch {
 public:
  /// `root`: where /proc and /sys are; tests pass their own.
  explicit ContentionWatch(std::filesystem::path root = "/",
                           std::shared_ptr<Ticker> ticker = std::make_shared<Ticker>());
  ContentionWatch(const ContentionWatch&) = delete;
  ContentionWatch& operator=(const ContentionWatch&) = delete;

  void begin();
  /// May be called again, for what came since begin().
  Contention so_far();
  /// so_far(), and nothing is watched any more.
  Contention end();
  bool watches() const { return thread_.joinable(); }

 private:
  struct Totals {
    double cpu_s = 0;
    std::optional<double> machine_busy_s, stolen_s, involuntary_switches;
  };
  Totals totals() const;
  void add_threads();

  const std::filesystem::path root_;
  const std::shared_ptr<Ticker> ticker_;
  Clock::time_point began_{};
  Totals first_;
  std::mutex mutex_;
  std::map<std::string, double> delays_;  ///< by thread: its latest total, in seconds
  std::optional<double> delayed_s_;       ///< since begin()
  std::jthread thread_;                   // the last member: it ends before the members that it uses
};

}  // namespace gpubench
