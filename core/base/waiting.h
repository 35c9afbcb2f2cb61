// How a thread waits for what another thread or process will soon have done: it looks again and again for a short time
// before it sleeps.
#pragma once
#include <algorithm>
#include <stop_token>
#include <thread>

#include "core/base/clock.h"

namespace gpubench {

/// How long waits look again and again before they sleep. Two ranks in step meet within microseconds. Waking a thread
/// takes some 25: two ranks that looked for less would take turns in waking each other. Sleeping leaves the processor
/// to others.
inline constexpr Clock::duration spin_time = std::chrono::microseconds(50);

/// Tells the processor that this thread looks at memory again and again.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The pause between two looks at something that cannot be waited for: the first hundred only give up the processor,
/// then each sleeps 20 us longer than the one before, up to a millisecond.
class Pause {
 public:
  void operator()() {
    const int sleeps = ++rounds_ - rounds_without_sleep;
    if (sleeps <= 0) return std::this_thread::yield();
    std::this_thread::sleep_for(std::min(longest_sleep, sleeps * first_sleep));
  }

 private:
  static constexpr int rounds_without_sleep = 100;
  static constexpr std::chrono::microseconds first_sleep{20}, longest_sleep{1000};
  int rounds_ = 0;
};

/// Time and waiting for it, as one object that tests replace by a clock of their own.
class Ticker {
 public:
  virtual ~Ticker() = default;
  virtual Clock::time_point now() const { return Clock::now(); }
  /// Blocks until `time`, and returns true, or until a stop is asked for, and returns false.
  virtual bool wait_until(Clock::time_point time, const std::stop_token& stop);
};

}  // namespace gpubench
