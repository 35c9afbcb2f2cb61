#include "core/measure/ratio.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/measure/stats/block_bootstrap.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr std::size_t least_samples = 6;
constexpr std::size_t blocks = 20;
/// So few blocks know the spread less well than their bootstrap says: the 97.5 % quantile of Student's t with 19
/// degrees of freedom over that of the normal distribution, and the n - 1 of a variance.
const double widening = 2.093 / 1.960 * std::sqrt(20.0 / 19.0);
constexpr std::size_t resamples = 2000;

double mean(std::span<const double> series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

std::vector<double> means_of(std::span<const double> series, std::uint64_t seed) {
  return bootstrap_means(series, std::max<std::size_t>(series.size() / blocks, 1), resamples, seed);
}

}  // namespace

Estimate estimate_mean_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             std::uint64_t seed) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  if (numerator.empty() || denominator.empty()) return {0, {-unbounded, unbounded}};
  const double below = mean(denominator);
  const double value = below == 0 ? 0 : mean(numerator) / below;
  if (numerator.size() < least_samples || denominator.size() < least_samples || below <= 0 || value <= 0) {
    return {value, {-unbounded, unbounded}};
  }
  std::vector<double> ratios = means_of(numerator, seed);
  const std::vector<double> divisors = means_of(denominator, seed + 1);
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= divisors[i];
  std::ranges::sort(ratios);
  // As factors: a ratio is never negative.
  const auto widened = [&](double p) { return value * std::pow(sorted_quantile(ratios, p) / value, widening); };
  return {value, {std::min(value, widened(0.025)), std::max(value, widened(0.975))}};
}

}  // namespace gpubench
