// The only flags that a signal handler may set. Loops that can run long call check_interrupt() once per step, so that
// Ctrl-C or the time limit of a point ends them promptly, with all finished rows kept.
//
// The script's thread alternates between the script's code and the program's own code, which writes files. Requests
// stop only the script's code.
#pragma once
#include <chrono>
#include <csignal>

namespace gpubench {

/// How often a waiting thread checks for an interrupt.
inline constexpr std::chrono::milliseconds interrupt_period{50};

/// Records that the user, or the sender of `signal`, asked to stop. Async-signal-safe.
void request_interrupt(int signal = SIGINT) noexcept;
bool interrupt_requested() noexcept;
/// The signal of the request; 0 without a request.
int interrupt_signal() noexcept;
/// Records that the point's time limit has passed; ignored outside a point and after the user's request.
/// Async-signal-safe.
void request_timeout() noexcept;
bool timeout_requested() noexcept;
/// Throws Interrupted or TimedOut when one has been requested.
void check_interrupt();

/// Time-outs are accepted only while it lives. A time-out that came within it is over at its end; one that came before,
/// in a scope around it, is not.
class TimeoutScope {
 public:
  TimeoutScope() noexcept;
  ~TimeoutScope();
  TimeoutScope(const TimeoutScope&) = delete;
  TimeoutScope& operator=(const TimeoutScope&) = delete;

 private:
  unsigned char before_;  // what had been requested
};

/// Clears all requests, after they have been handled.
void clear_interrupt() noexcept;

enum class Turn { script, program };

/// While it lives, the script's thread runs code of this kind. After begin_ending() has succeeded, the constructor and
/// the destructor block forever, because another thread ends the process.
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
/// Stops all later changes of turns. Returns false without effect during a turn of the program.
bool begin_ending() noexcept;

/// Lives around a computation of any length that ends by itself and is followed by check_interrupt(), such as a
/// training step.
class Computation {
 public:
  Computation() noexcept;
  ~Computation();
  Computation(const Computation&) = delete;
  Computation& operator=(const Computation&) = delete;
};

/// A counter that grows with each change of turns, with each finished computation, and at each call while a computation
/// runs. If it stays the same after a request, the script's code does not react to the request.
unsigned long progress_count() noexcept;

/// For what a run calls at its end, when its points have been stopped already. While it lives, a request of the user
/// stops nothing, and interrupt_requested() is false; interrupt_signal() still names its signal. Afterwards the request
/// is back.
class RequestSetAside {
 public:
  RequestSetAside() noexcept;
  ~RequestSetAside();
  RequestSetAside(const RequestSetAside&) = delete;
  RequestSetAside& operator=(const RequestSetAside&) = delete;
  /// Whether there was one.
  explicit operator bool() const noexcept { return was_requested_; }

 private:
  const bool was_requested_;
};

}  // namespace gpubench
