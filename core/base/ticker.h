// The current time and waiting for a time, behind an interface that tests replace with a fake clock.
#pragma once
#include <stop_token>

#include "core/base/clock.h"

namespace gpubench {

class Ticker {
 public:
  virtual ~Ticker() = default;
  virtual Clock::time_point now() const { return Clock::now(); }
  /// Blocks until `time` and returns true, or until a stop is requested and returns false.
  virtual bool wait_until(Clock::time_point time, const std::stop_token& stop);
};

}  // namespace gpubench
