#include "core/backend/emulated/host_time.h"

#include <algorithm>
#include <sys/prctl.h>
#include <thread>

#include "core/base/interrupt.h"

namespace gpubench {
namespace {

/// By how much a thread may be ahead of its calls, and by how much it still is after a sleep: more than a sleep takes
/// too long, so that no device waits for a thread that overslept.
constexpr Clock::duration most_ahead = std::chrono::microseconds(200);
constexpr Clock::duration ahead_after_sleep = std::chrono::microseconds(100);

/// Linux lets sleeps take up to 50 us longer by default, to save power.
void request_exact_sleeps() {
  thread_local bool requested = false;
  if (requested) return;
  constexpr unsigned long shortest_slack_ns = 1;
  prctl(PR_SET_TIMERSLACK, shortest_slack_ns, 0, 0, 0);
  requested = true;
}

/// A thread that waits spins for so long before the end: about as long as a sleep takes too long.
constexpr Clock::duration spun = std::chrono::microseconds(60);

/// Returns early once an interrupt or a time-out is requested.
void sleep_until(Clock::time_point time) {
  request_exact_sleeps();
  for (Clock::time_point now = Clock::now(); now < time; now = Clock::now()) {
    if (interrupt_requested() || timeout_requested()) return;
    std::this_thread::sleep_until(std::min(time, now + interrupt_period));
  }
}

/// Until when the calling thread is in its calls.
thread_local Clock::time_point busy_until = Clock::time_point::min();

}  // namespace

Booking charge_host(Clock::duration length) {
  const Clock::time_point begin = std::max(Clock::now(), busy_until);
  hold_host_until(begin + length);
  return {begin, begin + length};
}

void hold_host_until(Clock::time_point time) {
  busy_until = std::max(busy_until, time);
  if (busy_until - Clock::now() > most_ahead) sleep_until(busy_until - ahead_after_sleep);
}

void wait_until(Clock::time_point time) {
  sleep_until(time - spun);
  while (Clock::now() < time && !interrupt_requested() && !timeout_requested()) {
  }
}

}  // namespace gpubench
