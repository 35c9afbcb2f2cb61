#include "core/trace/span_clock.h"

#include <fstream>
#include <string>

namespace gpubench {
namespace {

/// The kernel trusts the counter only where it is constant and the same on all processors.
bool counter_is_clock() {
#ifdef __x86_64__
  std::string source;
  std::ifstream("/sys/devices/system/clocksource/clocksource0/current_clocksource") >> source;
  return source == "tsc";
#else
  return false;
#endif
}

/// Both are read within some 30 ns, which over this time are a few parts in a million.
constexpr Clock::duration compared = std::chrono::milliseconds(5);

}  // namespace

SpanClock::Reading SpanClock::read() {
  // An interrupt between the two readings would spoil them: the closest of a few counts.
  constexpr int attempts = 8;
  Reading best{};
  std::uint64_t least = UINT64_MAX;
  for (int attempt = 0; attempt < attempts; ++attempt) {
    const std::uint64_t before = ticks();
    const Clock::time_point clock = Clock::now();
    const std::uint64_t after = ticks();
    if (after - before >= least) continue;
    least = after - before;
    best = {clock, before + least / 2};
  }
  return best;
}

SpanClock::SpanClock() {
  static const bool is_clock = counter_is_clock();
  if (!is_clock) return;
  static const Reading first = read();
  Reading now = read();
  while (now.clock - first.clock < compared) now = read();
  begin_ = now.clock;
  begin_ticks_ = now.ticks;
  clock_per_tick_ =
      static_cast<double>((now.clock - first.clock).count()) / static_cast<double>(now.ticks - first.ticks);
}

}  // namespace gpubench
