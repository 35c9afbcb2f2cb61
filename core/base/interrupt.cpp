#include "core/base/interrupt.h"

#include <atomic>

#include "core/base/error.h"

namespace gpubench {
namespace {

enum class Request { none, timeout_possible, timeout, interrupt };

// A signal handler has no other way to reach the program, hence the one global.
std::atomic<Request> requested{Request::none};
static_assert(std::atomic<Request>::is_always_lock_free);

void replace(Request from, Request to) noexcept {
  requested.compare_exchange_strong(from, to, std::memory_order_relaxed);
}

}  // namespace

void request_interrupt() noexcept {
  requested.store(Request::interrupt, std::memory_order_relaxed);
}
bool interrupt_requested() noexcept {
  return requested.load(std::memory_order_relaxed) == Request::interrupt;
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

TimeoutScope::TimeoutScope() noexcept {
  replace(Request::none, Request::timeout_possible);
}
TimeoutScope::~TimeoutScope() {
  replace(Request::timeout_possible, Request::none);
  replace(Request::timeout, Request::none);
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
