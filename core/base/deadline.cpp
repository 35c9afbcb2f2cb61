#include "core/base/deadline.h"

#include <cmath>
#include <sys/time.h>

namespace gpubench {
namespace {

// What outlasted its deadline in a shorter one learns it when that one has been handled, hence again and again.
constexpr double late_s = 0.01;

timeval time_of(double seconds) {
  const double whole = std::floor(seconds);
  return {static_cast<time_t>(whole), static_cast<suseconds_t>(std::ceil((seconds - whole) * 999'999))};
}

/// Returns the seconds that the timer had left before.
double set_timer(double seconds, double then_every_s = 0) {
  const itimerval timer{.it_interval = time_of(then_every_s), .it_value = time_of(seconds)};
  itimerval before{};
  setitimer(ITIMER_REAL, &timer, &before);
  return static_cast<double>(before.it_value.tv_sec) + static_cast<double>(before.it_value.tv_usec) / 1e6;
}

}  // namespace

Deadline::Deadline(std::optional<double> seconds) : armed_(seconds.has_value()) {
  if (!armed_) return;
  since_ = Clock::now();
  outer_s_ = set_timer(*seconds);
  if (outer_s_ > 0 && outer_s_ < *seconds) set_timer(outer_s_);
}

Deadline::~Deadline() {
  if (!armed_) return;
  const double left = outer_s_ - Seconds(Clock::now() - since_).count();
  if (outer_s_ <= 0) {
    set_timer(0);
  } else if (left > 0) {
    set_timer(left);
  } else {
    set_timer(late_s, late_s);
  }
}

}  // namespace gpubench
