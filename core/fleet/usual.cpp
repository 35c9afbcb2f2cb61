#include "core/fleet/usual.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr std::size_t fewest_values = 4;
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

double standard_deviation(std::span<const double> values) {
  const auto count = static_cast<double>(values.size());
  double sum = 0, squares = 0;
  for (const double one : values) sum += one;
  for (const double one : values) squares += (one - sum / count) * (one - sum / count);
  return std::sqrt(squares / (count - 1));
}

/// A spread, and how many values less one it rests on.
struct Spread {
  double deviation, freedom;
};

// The median deviation of three to nine values is near 0 too often. Their standard deviation is not; of five or more,
// one bad machine is left out, for which the factors (by simulation of normal values) make up.
constexpr std::size_t fewest_for_median = 10, fewest_to_leave_out = 5;
constexpr std::array<double, fewest_for_median - fewest_to_leave_out> left_out_factors = {1.458, 1.376, 1.314, 1.279,
                                                                                          1.251};

Spread spread_around(double middle, std::span<const double> sorted) {
  const std::size_t count = sorted.size();
  if (count >= fewest_for_median) {
    std::vector<double> distances(sorted.begin(), sorted.end());
    for (double& one : distances) one = std::abs(one - middle);
    return {deviation_per_median_deviation * median_in_place(distances), efficiency * static_cast<double>(count)};
  }
  if (count < fewest_to_leave_out) return {standard_deviation(sorted), static_cast<double>(count - 1)};
  const bool first = middle - sorted.front() > sorted.back() - middle;
  return {left_out_factors[count - fewest_to_leave_out] * standard_deviation(sorted.subspan(first ? 1 : 0, count - 1)),
          static_cast<double>(count - 2)};
}

// Quantiles of Student's t over those of the normal distribution, by degrees of freedom.

double between(std::span<const double> by_freedom, double freedom) {
  if (freedom <= 1) return by_freedom.front();
  const auto below = static_cast<std::size_t>(freedom);
  const double part = freedom - static_cast<double>(below);
  return std::exp((1 - part) * std::log(by_freedom[below - 1]) + part * std::log(by_freedom[below]));
}

/// Those of 0.999.
double small_sample_factor(double freedom) {
  constexpr std::array by_freedom = {103.0, 7.23, 3.31, 2.32, 1.91, 1.69, 1.55, 1.46, 1.39, 1.34};
  return freedom < by_freedom.size() ? between(by_freedom, freedom) : 1 + 3 / freedom;
}

/// Those of 0.999999.
double small_sample_factor_alone(double freedom) {
  constexpr std::array by_freedom = {66966.0, 148.8, 21.7, 8.75, 5.21, 3.75, 2.99, 2.53, 2.25, 2.06};
  return freedom < by_freedom.size() ? between(by_freedom, freedom) : 1 + 6.2 / freedom + 45 / (freedom * freedom);
}

}  // namespace

double usual_share(std::vector<double> shares) {
  constexpr double left_out = 0.1, least = 0.01;
  std::ranges::sort(shares);
  const auto most = static_cast<std::size_t>(std::ceil(left_out * static_cast<double>(shares.size()))) + 1;
  if (most >= shares.size()) return least;
  shares.resize(shares.size() - most);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  return std::max(least, sum / static_cast<double>(shares.size()));
}

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
  std::ranges::sort(sorted_);
  if (sorted_.size() < 2) return;
  middle_ = middle_of(sorted_);
  spread_ = spread_around(middle_, sorted_).deviation;
}

double UsualValues::unit() const {
  if (sorted_.size() < fewest_values) return std::numeric_limits<double>::quiet_NaN();
  const Spread spread = spread_around(middle_, sorted_);
  return std::max(small_sample_factor(spread.freedom) * spread.deviation, least_);
}

Distance UsualValues::distance(std::size_t machine, const OtherFigures& others) const {
  constexpr double nothing = std::numeric_limits<double>::quiet_NaN();
  const double own = worse_[machine];
  if (std::isnan(own) || sorted_.size() < fewest_values) return {nothing, nothing, nothing};
  double middle = middle_;
  Spread spread{spread_, efficiency * static_cast<double>(sorted_.size())};
  if (sorted_.size() <= few) {
    std::vector<double> rest(sorted_);
    rest.erase(std::ranges::lower_bound(rest, own));
    middle = middle_of(rest);
    spread = spread_around(middle, rest);
  }
  const double worse = own - middle;
  const double deviations = worse / std::max(small_sample_factor(spread.freedom) * spread.deviation, least_);
  if (sorted_.size() <= shared_up_to && others.count >= fewest_figures)
    spread = {std::max(spread.deviation, others.spread), spread.freedom + freedom_of_others};
  return {worse, deviations, worse / std::max(small_sample_factor_alone(spread.freedom) * spread.deviation, least_)};
}

}  // namespace gpubench
