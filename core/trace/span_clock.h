// The program's clock for spans of kernels that take a microsecond: the processor's counter, at half of the clock's
// price, where the system's own clock is made from it. Other machines read the clock.
#pragma once
#include <cstdint>

#include "core/base/clock.h"

namespace gpubench {

class SpanClock {
 public:
  /// Compares the counter with the clock, for which it spins a few milliseconds the first time.
  SpanClock();

  /// Differs from Clock::now() by less than a microsecond for a second after construction.
  Clock::time_point now() const {
    if (clock_per_tick_ == 0) return Clock::now();
    const auto past = static_cast<double>(static_cast<std::int64_t>(ticks() - begin_ticks_)) * clock_per_tick_;
    return begin_ + Clock::duration(static_cast<Clock::rep>(past));
  }

 private:
  static std::uint64_t ticks() {
#ifdef __x86_64__
    return __builtin_ia32_rdtsc();
#else
    return 0;
#endif
  }
  struct Reading {
    Clock::time_point clock;
    std::uint64_t ticks;
  };
  static Reading read();

  Clock::time_point begin_;
  std::uint64_t begin_ticks_ = 0;
  double clock_per_tick_ = 0;  // 0: the counter is no clock here
};

}  // namespace gpubench
