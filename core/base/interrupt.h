// What a signal handler may set, and who may be stopped by it. Loops that can run long call check_interrupt() once per
// step, so that Ctrl-C, or the time a point may take, ends them at once with every finished row kept.
//
// The script's thread runs the script's code or the program's own (which writes files) in turns. Only the first is
// stopped; the program's own code is let to its end.
#pragma once
#include <chrono>
#include <csignal>

namespace gpubench {

/// How often a thread that waits for others looks whether it has been interrupted.
inline constexpr std::chrono::milliseconds interrupt_period{50};

/// The user, or whoever sends `signal`, asks to stop. Async-signal-safe.
void request_interrupt(int signal = SIGINT) noexcept;
bool interrupt_requested() noexcept;
/// The signal of the request; 0 without one.
int interrupt_signal() noexcept;
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

enum class Turn { script, program };

/// While it lives, the script's thread runs code of this kind. Once begin_ending() has succeeded, a change of turns
/// blocks for ever: another thread ends the process.
class TurnScope {
 public:
  explicit TurnScope(Turn turn) noexcept;
  ~TurnScope();
  TurnScope(const TurnScope&) = delete;
  TurnScope& operator=(const TurnScope&) = delete;

 private:
  Turn before_;
};

/// Async-signal-safe.
bool is_turn_of_script() noexcept;
/// Ends the turns: false, and nothing is changed, in a turn of the program.
bool begin_ending() noexcept;

/// Around a computation of any length that a check_interrupt() follows, such as a training step.
class Computation {
 public:
  Computation() noexcept;
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
};

/// A number that differs after any turn and any computation, and while one is under way from look to look: a script's
/// code for which it stays the same cannot be stopped.
unsigned long progress_count() noexcept;

}  // namespace gpubench
