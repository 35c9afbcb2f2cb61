#include "core/fleet/usual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

/// Up to so many values, the machine itself would move the median: it is left out.
constexpr std::size_t few = 20;
/// Up to so many siblings go by other figures too, if there are so many of them. They count as so many siblings more.
constexpr std::size_t shared_up_to = 40, fewest_figures = 5;
constexpr double freedom_of_others = 4;
/// The median deviation of n values says as much as the standard deviation of half as many.
constexpr double efficiency = 0.5;

double middle_of(std::span<const double> sorted) {
  const std::size_t n = sorted.size();
  return n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

/// The median distance of sorted values from one of them, as a standard deviation.
double spread_around(double middle, std::span<const double> sorted) {
  std::vector<double> distances(sorted.begin(), sorted.end());
  for (double& one : distances) one = std::abs(one - middle);
  return deviation_per_median_deviation * median_in_place(distances);
}

// Quantiles of Student's t over those of the normal distribution.

/// That of 0.999, of `siblings` values.
double small_sample_factor(std::size_t siblings) {
  constexpr std::array by_freedom = {103.0, 7.23, 3.31, 2.32, 1.91, 1.69, 1.55, 1.46, 1.39, 1.34};
  const std::size_t freedom = siblings - 1;
  return freedom <= by_freedom.size() ? by_freedom[freedom - 1] : 1 + 3 / static_cast<double>(freedom);
}

/// That of 0.999999, by degrees of freedom.
double small_sample_factor_alone(double freedom) {
  constexpr std::array by_freedom = {66966.0, 148.8, 21.7, 8.75, 5.21, 3.75, 2.99, 2.53, 2.25, 2.06};
  if (freedom >= by_freedom.size()) return 1 + 6.2 / freedom + 45 / (freedom * freedom);
  if (freedom <= 1) return by_freedom.front();
  const auto below = static_cast<std::size_t>(freedom);
  const double part = freedom - static_cast<double>(below);
  return std::exp((1 - part) * std::log(by_freedom[below - 1]) + part * std::log(by_freedom[below]));
}

}  // namespace

UsualValues::UsualValues(std::span<const double> values, bool lower_is_better)
    : worse_(values.begin(), values.end()), least_(least_spread) {
  std::vector<double> known;
  for (const double one : worse_)
    if (!std::isnan(one)) known.push_back(one);
  if (known.size() < 2) return;
  const bool positive = std::ranges::all_of(known, [](double one) { return one > 0; });
  center_ = median_in_place(known);
  if (center_ == 0) return;
  for (double& one : worse_) {
    one = positive ? std::log(one) : one / std::abs(center_);
    if (!lower_is_better) one = -one;
  }
  measure();
}

UsualValues::UsualValues(std::span<const double> worse, double least_spread)
    : worse_(worse.begin(), worse.end()), least_(least_spread) {
  measure();
  center_ = middle_;
}

void UsualValues::measure() {
  for (const double one : worse_)
    if (!std::isnan(one)) sorted_.push_back(one);
  if (sorted_.size() < 2) return;
  std::ranges::sort(sorted_);
  middle_ = middle_of(sorted_);
  spread_ = spread_around(middle_, sorted_);
}

Distance UsualValues::distance(std::size_t machine, const OtherFigures& others) const {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  const double own = worse_[machine];
  if (std::isnan(own) || sorted_.size() < 3) return {nothing, nothing, nothing};
  const std::size_t siblings = sorted_.size() - 1;
  double middle = middle_, spread = spread_;
  if (sorted_.size() <= few) {
    std::vector<double> rest(sorted_);
    rest.erase(std::ranges::lower_bound(rest, own));
    middle = middle_of(rest);
    spread = spread_around(middle, rest);
  }
  const double worse = own - middle;
  const double deviations = worse / (small_sample_factor(siblings) * std::max(spread, least_));
  double freedom = efficiency * static_cast<double>(siblings);
  if (siblings <= shared_up_to && others.count >= fewest_figures) {
    spread = std::max(spread, others.spread);
    freedom += freedom_of_others;
  }
  return {worse, deviations, worse / (small_sample_factor_alone(freedom) * std::max(spread, least_))};
}

}  // namespace gpubench
