// How long threads have waited in all, with the waits that still last: a figure that counted them at their end would
// show a long wait in the moment in which it is over. Guarded by its owner's lock.
#pragma once
#include "core/base/clock.h"

namespace gpubench {

class WaitTime {
 public:
  /// A thread waits while it lives. It is made and destroyed under the owner's lock.
  class Wait {
   public:
    explicit Wait(WaitTime& time) : time_(time) {
      time_.ticks_ -= now();
      ++time_.waiting_;
    }
    ~Wait() {
      time_.ticks_ += now();
      --time_.waiting_;
    }
    Wait(const Wait&) = delete;
    Wait& operator=(const Wait&) = delete;

   private:
    WaitTime& time_;
  };

  Seconds total() const { return Clock::duration(ticks_ + waiting_ * now()); }
  /// How many threads wait now.
  int waiting() const { return static_cast<int>(waiting_); }

 private:
  static Clock::rep now() { return Clock::now().time_since_epoch().count(); }

  Clock::rep ticks_ = 0;  // of waits that have ended, less the begins of those that have not
  Clock::rep waiting_ = 0;
};

}  // namespace gpubench
