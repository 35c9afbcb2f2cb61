// A part of an emulated device that does one thing at a time: its kernels, or its copies in one direction.
#pragma once
#include <deque>
#include <mutex>

#include "core/base/clock.h"

namespace gpubench {

struct Booking {
  Clock::time_point begin, end;
};

class Engine {
 public:
  /// Books `length` in the earliest gap that begins at `ready` or later. Thread-safe.
  Booking book(Clock::time_point ready, Clock::duration length);

 private:
  std::mutex mutex_;
  std::deque<Booking> booked_;  // in order, disjoint; adjacent ones are merged
};

}  // namespace gpubench
