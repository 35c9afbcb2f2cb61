// A clock on which the time never comes.
#pragma once
#include <atomic>

#include "core/data/stage/throttle.h"

namespace gpubench {

/// Waits until it is stopped.
class StuckTicker final : public Ticker {
 public:
  bool wait_until(Clock::time_point, const std::stop_token& stop) override {
    waiting = true;
    waiting.notify_all();
    return Ticker::wait_until(Clock::now() + std::chrono::hours(1), stop);
  }
  std::atomic<bool> waiting = false;
};

}  // namespace gpubench
