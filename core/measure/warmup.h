// Decides when a measured point has settled. The first steps pay for planning, page faults, caches and rising clock
// rates; the warm-up ends when three windows in a row have the same median, within a tolerance. Like the stopping rule,
// it reads no clock.
#pragma once
#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "core/base/clock.h"

namespace gpubench {

struct WarmupLimits {
  /// A window ends when it has both this many steps and this much time, or five times this time with fewer steps.
  std::size_t window_steps = 3;
  Seconds window_time{0.02};
  /// Largest allowed spread between the medians of three windows, relative to the smallest.
  double tolerance = 0.05;
  /// The warm-up ends after this time even if not settled, but not before six windows, which allow four comparisons of
  /// three.
  Seconds max_time{0.5};
};

class Warmup {
 public:
  /// Throws Error when a limit is not positive.
  explicit Warmup(WarmupLimits limits);

  /// Adds a step time; true when the warm-up should end. Allocates nothing.
  bool add(double seconds);

  bool settled() const { return settled_; }
  std::size_t steps() const { return steps_; }
  Seconds elapsed() const { return elapsed_; }
  /// "settled after 1324 steps in 60 ms" or "not settled after 12 steps in 0.5 s".
  std::string reason() const;

 private:
  bool window_ended();

  WarmupLimits limits_;
  std::vector<double> window_;
  Seconds in_window_{0};
  std::array<double, 3> medians_{};
  std::size_t windows_ = 0;
  std::size_t steps_ = 0;
  Seconds elapsed_{0};
  bool settled_ = false;
};

}  // namespace gpubench
