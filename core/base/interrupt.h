// The only flags that a signal handler may set. Loops that can run long call check_interrupt() once per step, so that
// Ctrl-C or the time limit of a point ends them promptly, with all finished rows kept.
#pragma once
#include <chrono>

namespace gpubench {

/// How often a waiting thread checks for an interrupt.
inline constexpr std::chrono::milliseconds interrupt_period{50};

/// Records that the user asked to stop. Async-signal-safe.
void request_interrupt() noexcept;
bool interrupt_requested() noexcept;
/// Records that the point's time limit has passed; ignored outside a point and after the user's request.
/// Async-signal-safe.
void request_timeout() noexcept;
bool timeout_requested() noexcept;
/// Throws Interrupted or TimedOut when one has been requested.
void check_interrupt();

/// Time-outs are accepted only while it lives. Points do not nest.
class TimeoutScope {
 public:
  TimeoutScope() noexcept;
  ~TimeoutScope();
  TimeoutScope(const TimeoutScope&) = delete;
  TimeoutScope& operator=(const TimeoutScope&) = delete;
};

/// Clears all requests, after they have been handled.
void clear_interrupt() noexcept;

}  // namespace gpubench
