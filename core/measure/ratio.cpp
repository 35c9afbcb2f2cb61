#include "core/measure/ratio.h"

#include <algorithm>
#include <limits>
#include <vector>

#include "core/measure/stats/block_bootstrap.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr std::size_t least_samples = 6;
constexpr std::size_t blocks = 30;
constexpr std::size_t resamples = 2000;

std::vector<double> medians_of(std::span<const double> series, std::uint64_t seed) {
  return bootstrap_medians(series, std::max<std::size_t>(series.size() / blocks, 1), resamples, seed);
}

}  // namespace

Estimate estimate_median_ratio(std::span<const double> numerator, std::span<const double> denominator,
                               std::uint64_t seed) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  if (numerator.empty() || denominator.empty()) return {0, {-unbounded, unbounded}};
  const double below = median(denominator);
  const double value = below == 0 ? 0 : median(numerator) / below;
  if (numerator.size() < least_samples || denominator.size() < least_samples || below <= 0 || value <= 0) {
    return {value, {-unbounded, unbounded}};
  }
  std::vector<double> ratios = medians_of(numerator, seed);
  const std::vector<double> divisors = medians_of(denominator, seed + 1);
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= divisors[i];
  std::ranges::sort(ratios);
  return {value, {sorted_quantile(ratios, 0.025), sorted_quantile(ratios, 0.975)}};
}

}  // namespace gpubench
