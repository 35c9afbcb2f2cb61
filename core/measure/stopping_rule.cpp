#include "core/measure/stopping_rule.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <limits>
#include <numeric>

#include "core/base/error.h"
#include "core/base/units.h"

namespace gpubench {
namespace {

// Room for steps of 2 µs over the whole budget; unused pages of the reservation cost nothing. Faster or more steps end
// the point early, with the reason `full`.
constexpr double shortest_step = 2e-6;
constexpr double least_capacity = 4096;
constexpr double most_capacity = 1 << 24;

std::size_t capacity_for(Seconds budget) {
  return static_cast<std::size_t>(std::clamp(budget.count() / shortest_step, least_capacity, most_capacity));
}

StoppingLimits checked(StoppingLimits limits) {
  check(limits);
  return limits;
}

constexpr Seconds between_questions{0.01};
constexpr std::int64_t most_steps = 10'000;

}  // namespace

void check(const StoppingLimits& limits) {
  if (!(limits.relative_error > 0)) {
    throw Error(fmt::format("measure: the relative error is {}; it must be above 0", limits.relative_error));
  }
  if (!(limits.budget.count() > 0) || !(limits.min_time.count() > 0)) {
    throw Error(fmt::format("measure: a budget of {} s and a min_time of {} s; both must be above 0",
                            limits.budget.count(), limits.min_time.count()));
  }
  if (limits.budget < limits.min_time) {
    throw Error(
        fmt::format("measure: a min_time of {} s is more than the budget of {} s; at most the budget is possible",
                    limits.min_time.count(), limits.budget.count()));
  }
}

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::running:
      return "running";
    case StopReason::precise:
      return "precise";
    case StopReason::budget:
      return "budget";
    case StopReason::full:
      return "full";
  }
  return "";
}

StoppingRule::StoppingRule(StoppingLimits limits)
    : limits_(checked(limits)),
      estimator_(capacity_for(limits.budget)),
      next_check_(0),
      reached_error_(std::numeric_limits<double>::infinity()) {
  samples_.reserve(capacity_for(limits.budget));
}

bool StoppingRule::add(double seconds) {
  samples_.push_back(seconds);
  measured_ += Seconds(seconds);
  if (measured_ < limits_.min_time) return false;

  const bool out_of_time = measured_ >= limits_.budget;
  const bool full = samples_.size() == samples_.capacity();
  if (!out_of_time && !full && samples_.size() < next_check_) return false;

  const Estimate estimate = estimator_.estimate(samples_);
  reached_error_ = estimate.relative_error();
  if (limits_.activity != nullptr) limits_.activity->set_estimate(estimate.value, reached_error_);
  next_check_ = samples_.size() + std::max<std::size_t>(samples_.size() / 4, 1);
  if (reached_error_ <= limits_.relative_error) {
    stop_reason_ = StopReason::precise;
  } else if (out_of_time) {
    stop_reason_ = StopReason::budget;
  } else if (full) {
    stop_reason_ = StopReason::full;
  }
  return stop_reason_ != StopReason::running;
}

StopReason StoppingRule::trim(std::size_t count) {
  samples_.resize(count);
  measured_ = Seconds(std::accumulate(samples_.begin(), samples_.end(), 0.0));
  reached_error_ = estimator_.estimate(samples_).relative_error();
  if (reached_error_ <= limits_.relative_error) {
    stop_reason_ = StopReason::precise;
  } else if (stop_reason_ == StopReason::precise) {
    stop_reason_ = StopReason::running;
  }
  return stop_reason_;
}

std::string StoppingRule::reason() const {
  const std::string extent = fmt::format("{} steps in {}", samples_.size(), format_seconds(measured_.count()));
  const std::string error = std::isfinite(reached_error_)
                                ? fmt::format("95 % interval within {:.2g} % of the median", 100 * reached_error_)
                                : std::string("too few steps for an interval");
  if (stop_reason_ == StopReason::running) return "running: " + extent;
  return fmt::format("{}: {} after {}", to_string(stop_reason_), error, extent);
}

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
