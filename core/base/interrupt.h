// The one flag that a signal handler may set. Loops that can run long call check_interrupt() once per step, so that
// Ctrl-C, or the time a point may take, ends them at once with every finished row kept.
#pragma once
#include <chrono>

namespace gpubench {

/// How often a thread that waits for others looks whether it has been interrupted.
inline constexpr std::chrono::milliseconds interrupt_period{50};

/// The user asks to stop. Async-signal-safe.
void request_interrupt() noexcept;
bool interrupt_requested() noexcept;
/// A point's time is up; ignored outside a point and after a request of the user. Async-signal-safe.
void request_timeout() noexcept;
bool timeout_requested() noexcept;
/// Throws Interrupted or TimedOut when one has been requested.
void check_interrupt();

/// While it lives, a time-out may be requested. Points do not nest.
class TimeoutScope {
 public:
  TimeoutScope() noexcept;
  ~TimeoutScope();
  TimeoutScope(const TimeoutScope&) = delete;
  TimeoutScope& operator=(const TimeoutScope&) = delete;
};

/// Forgets every request: its reason is dealt with.
void clear_interrupt() noexcept;

}  // namespace gpubench
