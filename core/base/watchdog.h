// Ends what does not stop when it is asked to: code of a script in which nothing looks at the request, such as pattern
// matching, a finalizer's loop or the read of an endless file.
#pragma once
#include <functional>
#include <semaphore.h>
#include <stop_token>
#include <thread>

#include "core/base/clock.h"

namespace gpubench {

class Watchdog {
 public:
  /// `end` must not return. It is called by the watchdog's thread when, after notify(), an interrupt or a time-out
  /// stays requested for `patience` in which the script's thread is in the script's turn and makes no progress
  /// (progress_count). From then on the script's thread can leave its turn no more.
  Watchdog(Clock::duration patience, std::function<void()> end);
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// There is a request. Async-signal-safe.
  void notify() noexcept;

 private:
  void watch(const std::stop_token& stop);
  void wait_for_progress(const std::stop_token& stop);

  const Clock::duration patience_;
  const std::function<void()> end_;
  sem_t notified_;
  std::jthread thread_;
};

}  // namespace gpubench
