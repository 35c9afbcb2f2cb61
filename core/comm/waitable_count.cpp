#include "core/comm/waitable_count.h"

namespace gpubench {
namespace {

/// Reading the clock takes as long as some twenty looks.
constexpr int looks_per_clock = 32;

}  // namespace

bool WaitableCount::wait(std::uint32_t count, Clock::duration spin) const noexcept {
  std::uint32_t word = word_.load(std::memory_order_acquire);
  const auto over = [&] { return is_reached(word, count) || (word & ended_bit) != 0; };
  if (!over() && !is_raised_here()) {
    const Clock::time_point sleep_at = Clock::now() + spin;
    do {
      for (int look = 0; look < looks_per_clock && !over(); ++look) {
        relax();
        word = word_.load(std::memory_order_acquire);
      }
    } while (!over() && !is_raised_here() && Clock::now() < sleep_at);
  }
  while (!over()) {
    word_.wait(word, std::memory_order_acquire);
    word = word_.load(std::memory_order_acquire);
  }
  return is_reached(word, count);
}

}  // namespace gpubench
