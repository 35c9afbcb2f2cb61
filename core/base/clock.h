// The only clock for intervals: monotonic, nanoseconds inside, seconds as double outside.
#pragma once
#include <chrono>

namespace gpubench {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

/// Time since construction or the last restart.
class Stopwatch {
 public:
  Seconds elapsed() const { return Clock::now() - start_; }
  Seconds restart() {
    const auto now = Clock::now();
    const Seconds past = now - start_;
    start_ = now;
    return past;
  }

 private:
  Clock::time_point start_ = Clock::now();
};

}  // namespace gpubench
