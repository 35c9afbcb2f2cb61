#include "core/compare/changes/level.h"

#include <algorithm>
#include <cmath>

#include "core/measure/stats/binomial.h"
#include "core/measure/stats/mann_whitney.h"
#include "core/measure/stats/quantile.h"
#include "core/measure/stats/scale.h"

namespace gpubench {
namespace {

/// Values that the noise is taken of.
constexpr std::size_t noise_window = 40;
/// Fewer do not show how far values spread.
constexpr std::size_t fewest_values = 10;
/// A level of fewer values has its median too near to them: they do not show the noise.
constexpr std::size_t fewest_of_level = 4;
constexpr double confirmed_level = 0.001, habit_level = 0.001;

double median_of(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  return median_in_place(copy);
}

/// The level of values [begin, end), of which the latest are kept as residuals.
void add_residuals(std::span<const double> values, std::size_t begin, std::size_t end, std::vector<double>& residuals) {
  if (end - begin < fewest_of_level) return;
  const std::size_t from = std::max(begin, end - std::min(end, noise_window));
  const double center = median_of(values.subspan(from, end - from));
  for (std::size_t i = end; i-- > from && residuals.size() < noise_window;) residuals.push_back(values[i] - center);
}

}  // namespace

bool Level::is_far(double value) const {
  const double distance = std::fabs(value - center);
  return distance > far_in_deviations * deviation && distance > share * std::fabs(center);
}

std::optional<Level> level_of(std::span<const double> values, std::span<const std::size_t> changes) {
  if (values.size() < fewest_values) return std::nullopt;
  const std::size_t last = changes.empty() ? 0 : changes.back();
  const std::size_t begin = std::max(last, values.size() - std::min(values.size(), noise_window));
  Level level;
  level.center = median_of(values.subspan(begin));
  std::size_t end = values.size();
  for (std::size_t i = changes.size() + 1; i-- > 0 && level.residuals.size() < noise_window;) {
    const std::size_t place = i == 0 ? 0 : changes[i - 1];
    add_residuals(values, place, end, level.residuals);
    end = place;
  }
  if (level.residuals.size() < fewest_values) return std::nullopt;
  level.deviation = qn_scale(level.residuals);
  return level;
}

bool is_confirmed(const Level& level, std::span<const double> again) {
  if (again.empty() || !level.is_far(median_of(again))) return false;
  std::vector<double> usual(level.residuals);
  for (double& one : usual) one += level.center;
  return mann_whitney_p(usual, again) < confirmed_level;
}

std::optional<std::size_t> frequently_far(std::span<const double> values, std::span<const std::size_t> changes,
                                          bool lower_is_better, bool known_habit, double share) {
  std::optional<Level> level = level_of(values, changes);
  if (!level) return std::nullopt;
  level->share = share;
  const auto is_worse = [&](double value) {
    return (value > level->center) == lower_is_better && level->is_far(value);
  };
  const std::size_t since = changes.empty() ? 0 : changes.back();
  const std::size_t begin = std::max(since, values.size() - std::min(values.size(), frequent_within));
  const std::span<const double> latest = values.subspan(begin);
  if (latest.empty() || !is_worse(latest.back())) return std::nullopt;
  const auto count = static_cast<std::size_t>(std::ranges::count_if(latest, is_worse));
  if (count < frequent_count) return std::nullopt;
  if (known_habit) {
    const std::size_t from = std::max(since, begin - std::min(begin, noise_window));
    const std::span<const double> before = values.subspan(from, begin - from);
    const double habit =
        (static_cast<double>(std::ranges::count_if(before, is_worse)) + 0.5) / (static_cast<double>(before.size()) + 1);
    if (binomial_tail(count, latest.size(), habit) >= habit_level) return std::nullopt;
  }
  const auto first = std::ranges::find_if(latest, is_worse);
  return begin + static_cast<std::size_t>(first - latest.begin());
}

}  // namespace gpubench
