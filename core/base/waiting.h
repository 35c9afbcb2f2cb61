// Waiting for another thread or process that will finish soon: spin for a short time, then sleep.
#pragma once
#include <algorithm>
#include <stop_token>
#include <thread>

#include "core/base/clock.h"

namespace gpubench {

/// How long a wait spins before it sleeps. Two ranks in step meet within microseconds, but waking a thread takes about
/// 25 us: with less spinning, two ranks would keep putting each other to sleep. Sleeping frees the processor.
inline constexpr Clock::duration spin_time = std::chrono::microseconds(50);

/// Hints to the processor that this thread is spinning.
inline void relax() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// The pause between polls of a state that has no wait function: the first hundred only yield the processor, then each
/// sleeps 20 us longer than the one before, up to a millisecond.
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

/// The current time and waiting for a time, behind an interface that tests replace with a fake clock.
class Ticker {
 public:
  virtual ~Ticker() = default;
  virtual Clock::time_point now() const { return Clock::now(); }
  /// The processor time that the calling thread has used.
  virtual Seconds thread_time() const;
  /// Blocks until `time` and returns true, or until a stop is requested and returns false.
  virtual bool wait_until(Clock::time_point time, const std::stop_token& stop);
};

}  // namespace gpubench
