#include "core/base/interrupt.h"

#include <atomic>
#include <unistd.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

enum class Request : unsigned char { none, timeout_possible, timeout, interrupt };

enum class State { script, program, ending };

// A signal handler has no other way to reach the program, hence the globals.
std::atomic<Request> requested{Request::none};
std::atomic<int> requested_by{0};
std::atomic<bool> set_aside{false};
std::atomic<State> state{State::script};
static_assert(std::atomic<Request>::is_always_lock_free && std::atomic<State>::is_always_lock_free);
std::atomic<unsigned long> progress{0};
std::atomic<int> computations{0};

State state_of(Turn turn) noexcept {
  return turn == Turn::script ? State::script : State::program;
}

// The turn before.
Turn change_to(Turn turn) noexcept {
  State before = state.load();
  while (before != State::ending && !state.compare_exchange_weak(before, state_of(turn))) {
  }
  while (before == State::ending) ::pause();
  progress.fetch_add(1, std::memory_order_relaxed);
  return before == State::script ? Turn::script : Turn::program;
}

void replace(Request from, Request to) noexcept {
  requested.compare_exchange_strong(from, to, std::memory_order_relaxed);
}

}  // namespace

void request_interrupt(int signal) noexcept {
  requested_by.store(signal, std::memory_order_relaxed);
  requested.store(Request::interrupt, std::memory_order_relaxed);
}
bool interrupt_requested() noexcept {
  return requested.load(std::memory_order_relaxed) == Request::interrupt;
}
int interrupt_signal() noexcept {
  return interrupt_requested() || set_aside.load(std::memory_order_relaxed)
             ? requested_by.load(std::memory_order_relaxed)
             : 0;
}

RequestSetAside::RequestSetAside() noexcept : was_requested_(interrupt_requested()) {
  if (!was_requested_) return;
  set_aside.store(true, std::memory_order_relaxed);
  replace(Request::interrupt, Request::none);
}
RequestSetAside::~RequestSetAside() {
  if (!was_requested_) return;
  requested.store(Request::interrupt, std::memory_order_relaxed);
  set_aside.store(false, std::memory_order_relaxed);
}

void request_timeout() noexcept {
  replace(Request::timeout_possible, Request::timeout);
}
bool timeout_requested() noexcept {
  return requested.load(std::memory_order_relaxed) == Request::timeout;
}
void clear_interrupt() noexcept {
  requested.store(Request::none, std::memory_order_relaxed);
}

TimeoutScope::TimeoutScope() noexcept : before_(static_cast<unsigned char>(requested.load(std::memory_order_relaxed))) {
  replace(Request::none, Request::timeout_possible);
}
TimeoutScope::~TimeoutScope() {
  const auto before = static_cast<Request>(before_);
  replace(Request::timeout, before);
  replace(Request::timeout_possible, before);
}

TurnScope::TurnScope(Turn turn) noexcept : before_(change_to(turn)) {}
TurnScope::~TurnScope() {
  change_to(before_);
}

bool is_turn_of_script() noexcept {
  return state.load() == State::script;
}

bool begin_ending() noexcept {
  State script = State::script;
  return state.compare_exchange_strong(script, State::ending);
}

Computation::Computation() noexcept {
  computations.fetch_add(1, std::memory_order_relaxed);
}
Computation::~Computation() {
  computations.fetch_sub(1, std::memory_order_relaxed);
  progress.fetch_add(1, std::memory_order_relaxed);
}

unsigned long progress_count() noexcept {
  if (computations.load(std::memory_order_relaxed) > 0) progress.fetch_add(1, std::memory_order_relaxed);
  return progress.load(std::memory_order_relaxed);
}

void check_interrupt() {
  switch (requested.load(std::memory_order_relaxed)) {
    case Request::none:
    case Request::timeout_possible:
      return;
    case Request::interrupt:
      throw Interrupted();
    case Request::timeout:
      throw TimedOut();
  }
}

}  // namespace gpubench
