// The time that something may take.
#pragma once
#include <optional>

#include "core/base/clock.h"

namespace gpubench {

/// Until it is gone, SIGALRM comes when the time is up; never without one. Within another one it also comes when the
/// outer one's time is up, which goes on at its end.
class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  const bool armed_;
  Clock::time_point since_{};
  double outer_s_ = 0;  // that an outer deadline had left then; 0: there is none
};

}  // namespace gpubench
