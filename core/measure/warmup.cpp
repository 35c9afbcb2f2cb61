#include "core/measure/warmup.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/error.h"
#include "core/base/units.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {
// Limits a window's memory; with 20 ms windows only steps under 3 µs reach it.
constexpr std::size_t most_window_steps = 8192;
/// Long steps vary relatively less, and three of them per window would take too long.
constexpr double long_window = 5;
/// The first three windows hold few long steps, and one disturbed step could end the warm-up.
constexpr std::size_t least_windows = 6;
}  // namespace

Warmup::Warmup(WarmupLimits limits) : limits_(limits) {
  if (limits.window_steps == 0 || !(limits.window_time.count() > 0) || !(limits.tolerance > 0) ||
      !(limits.max_time.count() > 0)) {
    throw Error(fmt::format("warm-up: windows of {} steps and {} s, tolerance {}, at most {} s; all must be above 0",
                            limits.window_steps, limits.window_time.count(), limits.tolerance,
                            limits.max_time.count()));
  }
  limits_.window_steps = std::min(limits.window_steps, most_window_steps);
  window_.reserve(most_window_steps);
}

bool Warmup::add(double seconds) {
  ++steps_;
  elapsed_ += Seconds(seconds);
  window_.push_back(seconds);
  in_window_ += Seconds(seconds);
  const bool long_enough = window_.size() >= limits_.window_steps && in_window_ >= limits_.window_time;
  const bool full = in_window_ >= long_window * limits_.window_time || window_.size() == most_window_steps;
  if (long_enough || full) settled_ = window_ended();
  return settled_ || (elapsed_ >= limits_.max_time && windows_ >= least_windows);
}

bool Warmup::window_ended() {
  medians_[windows_ % medians_.size()] = median_in_place(window_);
  ++windows_;
  window_.clear();
  in_window_ = Seconds(0);
  if (windows_ < medians_.size()) return false;
  const auto [least, most] = std::minmax_element(medians_.begin(), medians_.end());
  return *most - *least <= limits_.tolerance * *least;
}

std::string Warmup::reason() const {
  return fmt::format("{} after {} steps in {}", settled_ ? "settled" : "not settled", steps_,
                     format_seconds(elapsed_.count()));
}

}  // namespace gpubench
