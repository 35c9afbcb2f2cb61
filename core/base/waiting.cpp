#include "core/base/waiting.h"

#include <condition_variable>
#include <ctime>
#include <mutex>

namespace gpubench {

Seconds Ticker::thread_time() const {
  timespec time{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return Seconds(static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec));
}

bool Ticker::wait_until(Clock::time_point time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_until(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace gpubench
