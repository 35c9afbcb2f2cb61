// A count of one rank's progress: one thread raises it, others wait for it. Ending it releases all waits for counts
// that it has not reached. Count and end flag share one word, so that a check costs one load and cannot miss either.
#pragma once
#include <atomic>
#include <cstdint>
#include <sched.h>

#include "core/base/waiting.h"

namespace gpubench {

/// Two cache lines, because processors fetch them in pairs.
class alignas(128) WaitableCount {
 public:
  void raise() noexcept {
    processor_.store(sched_getcpu(), std::memory_order_relaxed);
    word_.fetch_add(step);
    word_.notify_all();
  }
  /// The count stays as it is from now on. Thread-safe.
  void end() noexcept {
    word_.fetch_or(ended_bit);
    word_.notify_all();
  }
  /// Counts wrap around; `count` must be less than 2^30 away from the current value.
  bool reached(std::uint32_t count) const noexcept { return is_reached(word_.load(std::memory_order_acquire), count); }
  /// Blocks until `count` is reached (true) or the count is ended (false). Spins for at most `spin` before it sleeps,
  /// but not at all if the raising thread last ran on this processor, which spinning would keep busy.
  bool wait(std::uint32_t count, Clock::duration spin) const noexcept;

 private:
  static constexpr std::uint32_t ended_bit = 1, step = 2;
  static bool is_reached(std::uint32_t word, std::uint32_t count) {
    return static_cast<std::int32_t>((word & ~ended_bit) - count * step) >= 0;
  }
  bool is_raised_here() const noexcept { return processor_.load(std::memory_order_relaxed) == sched_getcpu(); }
  std::atomic<std::uint32_t> word_{0};
  std::atomic<int> processor_{-1};  // the processor on which it was last raised
};

}  // namespace gpubench
