#include "core/measure/pace.h"

#include <algorithm>

namespace gpubench {
namespace {

constexpr Seconds between_questions{0.01};
constexpr std::int64_t most_steps = 10'000;

}  // namespace

bool Pace::agreed(bool wanted) {
  if (left_ == 0) {
    const Clock::time_point now = Clock::now();
    std::int64_t steps = 1;
    if (taken_ > 0) {
      const double step = std::max(Seconds(now - asked_).count(), 1e-9) / static_cast<double>(taken_);
      steps = std::clamp<std::int64_t>(static_cast<std::int64_t>(between_questions.count() / step), 1, most_steps);
    }
    left_ = taken_ = agreement_(wanted ? steps : 0);
    asked_ = Clock::now();
    if (left_ == 0) return false;
  }
  --left_;
  return true;
}

}  // namespace gpubench
