#include "core/base/waiting.h"

#include <condition_variable>
#include <mutex>

namespace gpubench {

bool Ticker::wait_until(Clock::time_point time, const std::stop_token& stop) {
  std::mutex mutex;
  std::condition_variable_any stopped;
  std::unique_lock lock(mutex);
  stopped.wait_until(lock, stop, time, [] { return false; });
  return !stop.stop_requested();
}

}  // namespace gpubench
