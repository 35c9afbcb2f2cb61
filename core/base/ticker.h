// Time and waiting for it, as one object that tests replace by one that goes by their word.
#pragma once
#include <stop_token>

#include "core/base/clock.h"

namespace gpubench {

class Ticker {
 public:
  virtual ~Ticker() = default;
  virtual Clock::time_point now() const { return Clock::now(); }
  /// Blocks until `time`, and returns true, or until a stop is asked for, and returns false.
  virtual bool wait_until(Clock::time_point time, const std::stop_token& stop);
};

}  // namespace gpubench
