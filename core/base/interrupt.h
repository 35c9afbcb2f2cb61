// The one flag that a signal handler may set. Loops that can run long call check_interrupt() once per step, so that
// Ctrl-C ends them at once with every finished row kept.
#pragma once

namespace gpubench {

/// Async-signal-safe.
void request_interrupt() noexcept;
bool interrupt_requested() noexcept;
/// Throws Interrupted when an interrupt has been requested.
void check_interrupt();
/// For tests: forgets a request.
void clear_interrupt() noexcept;

}  // namespace gpubench
