// How many things one rank has done: one thread raises the count, others wait for it. It can be ended: then waits for a
// count that it has not reached are over, too. Count and end are one word, so that a look at it costs one load and none
// can be missed.
#pragma once
#include <atomic>
#include <cstdint>
#include <sched.h>

#include "core/base/waiting.h"

namespace gpubench {

/// Two cache lines: processors fetch them in pairs.
class alignas(128) WaitableCount {
 public:
  void raise() noexcept {
    processor_.store(sched_getcpu(), std::memory_order_relaxed);
    word_.fetch_add(step);
    word_.notify_all();
  }
  /// It goes no further. Any thread may call it.
  void end() noexcept {
    word_.fetch_or(ended_bit);
    word_.notify_all();
  }
  /// Counts wrap around: `count` is compared with those less than 2^30 away.
  bool reached(std::uint32_t count) const noexcept { return is_reached(word_.load(std::memory_order_acquire), count); }
  /// Blocks until `count` is reached (true) or the count is ended (false). Spins for at most `spin` before it sleeps,
  /// and not at all where the thread that raises the count last ran on this processor: spinning would keep it from
  /// running.
  bool wait(std::uint32_t count, Clock::duration spin) const noexcept;

 private:
  static constexpr std::uint32_t ended_bit = 1, step = 2;
  static bool is_reached(std::uint32_t word, std::uint32_t count) {
    return static_cast<std::int32_t>((word & ~ended_bit) - count * step) >= 0;
  }
  bool is_raised_here() const noexcept { return processor_.load(std::memory_order_relaxed) == sched_getcpu(); }
  std::atomic<std::uint32_t> word_{0};
  std::atomic<int> processor_{-1};  // on which it was raised
};

}  // namespace gpubench
