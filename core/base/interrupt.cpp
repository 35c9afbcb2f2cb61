#include "core/base/interrupt.h"

#include <atomic>

#include "core/base/error.h"

namespace gpubench {
namespace {
// A signal handler has no other way to reach the program, hence the one global.
std::atomic<bool> requested{false};
static_assert(std::atomic<bool>::is_always_lock_free);
}  // namespace

void request_interrupt() noexcept {
  requested.store(true, std::memory_order_relaxed);
}
bool interrupt_requested() noexcept {
  return requested.load(std::memory_order_relaxed);
}
void clear_interrupt() noexcept {
  requested.store(false, std::memory_order_relaxed);
}

void check_interrupt() {
  if (interrupt_requested()) throw Interrupted();
}

}  // namespace gpubench
