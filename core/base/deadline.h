// The time that something may take.
#pragma once
#include <optional>

namespace gpubench {

/// Until it is gone, SIGALRM comes when the time is up; never without one. One at a time.
class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  const bool armed_;
};

}  // namespace gpubench
