#include "core/base/deadline.h"

#include <cmath>
#include <sys/time.h>

namespace gpubench {
namespace {

void set_timer(double seconds) {
  const double whole = std::floor(seconds);
  itimerval timer{};
  timer.it_value.tv_sec = static_cast<time_t>(whole);
  timer.it_value.tv_usec = static_cast<suseconds_t>(std::ceil((seconds - whole) * 999'999));
  setitimer(ITIMER_REAL, &timer, nullptr);
}

}  // namespace

Deadline::Deadline(std::optional<double> seconds) : armed_(seconds.has_value()) {
  if (armed_) set_timer(*seconds);
}
Deadline::~Deadline() {
  if (armed_) set_timer(0);
}

}  // namespace gpubench
