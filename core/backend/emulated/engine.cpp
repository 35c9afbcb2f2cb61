#include "core/backend/emulated/engine.h"

#include <algorithm>

namespace gpubench {

Booking Engine::book(Clock::time_point ready, Clock::duration length) {
  // A thread books at most a little later than it has read the clock.
  constexpr Clock::duration remembered = std::chrono::milliseconds(10);
  const std::lock_guard lock(mutex_);
  const Clock::time_point forgotten = std::min(ready, Clock::now() - remembered);
  while (!booked_.empty() && booked_.front().end < forgotten) booked_.pop_front();

  // From the end, because most work follows all other.
  auto next = booked_.end();
  while (next != booked_.begin() && std::prev(next)->begin > ready) --next;
  Clock::time_point begin = ready;
  if (next != booked_.begin()) begin = std::max(begin, std::prev(next)->end);
  while (next != booked_.end() && next->begin - begin < length) begin = (next++)->end;

  const Booking made{begin, begin + length};
  const bool joins_previous = next != booked_.begin() && std::prev(next)->end == made.begin;
  const bool joins_next = next != booked_.end() && next->begin == made.end;
  if (joins_previous && joins_next) {
    std::prev(next)->end = next->end;
    booked_.erase(next);
  } else if (joins_previous) {
    std::prev(next)->end = made.end;
  } else if (joins_next) {
    next->begin = made.begin;
  } else {
    booked_.insert(next, made);
  }
  return made;
}

}  // namespace gpubench
