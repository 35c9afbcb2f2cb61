// A part of time on CLOCK_MONOTONIC, which gpubench, the kernel and Python's time.monotonic_ns() share: what the agent
// writes and what is sampled from outside can be compared without a translation.
#pragma once
#include <algorithm>
#include <cstdint>

#include "core/base/clock.h"

namespace gpubench {

struct TimeSpan {
  Clock::time_point begin, end;

  bool operator==(const TimeSpan&) const = default;
  double seconds() const { return Seconds(end - begin).count(); }
  /// Seconds that both have.
  double overlap(const TimeSpan& other) const {
    return std::max(TimeSpan{std::max(begin, other.begin), std::min(end, other.end)}.seconds(), 0.0);
  }
};

/// Nanoseconds of CLOCK_MONOTONIC as a time, those beyond the clock's range as its end.
inline Clock::time_point monotonic_time(std::uint64_t nanoseconds) {
  constexpr auto most = static_cast<std::uint64_t>(Clock::duration::max().count());
  return Clock::time_point(Clock::duration(static_cast<Clock::rep>(std::min(nanoseconds, most))));
}

}  // namespace gpubench
