#include "core/measure/estimate.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "core/measure/stats/block_bootstrap.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

// More blocks hardly tighten the interval of independent samples, and break the independence of correlated ones.
constexpr std::size_t max_blocks = 31;
constexpr double tail_probability = 0.025;

// The 97.5 % quantile of Student's t with 5 to 30 degrees of freedom.
double student_t(std::size_t degrees) {
  constexpr std::array quantiles = {2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
                                    2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074,
                                    2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  static_assert(quantiles.size() == max_blocks - least_for_interval + 1);
  return quantiles[degrees + 1 - least_for_interval];
}

// The largest rank k (from 1) with P(Binomial(n, 1/2) < k) <= 2.5 %, or 0 when there is none. By logarithms, because
// 0.5^n of some thousand values is 0.
std::size_t lower_rank(std::size_t n) {
  double log_term = static_cast<double>(n) * std::log(0.5);
  double below = 0;
  std::size_t rank = 0;
  while (below + std::exp(log_term) <= tail_probability) {
    below += std::exp(log_term);
    log_term += std::log(static_cast<double>(n - rank) / static_cast<double>(rank + 1));
    ++rank;
  }
  return rank;
}

// The shortest odd length that leaves no more than max_blocks whole blocks (and then at least ten).
std::size_t odd_block_length(std::size_t samples) {
  const std::size_t length = samples / (max_blocks + 1) + 1;
  return length % 2 == 1 ? length : length + 1;
}

constexpr std::size_t blocks = 20;
/// Few blocks underestimate the spread in their bootstrap. Corrects by the 97.5 % quantile of Student's t with 19
/// degrees of freedom over that of the normal distribution, and by the n - 1 of a variance.
const double widening = 2.093 / 1.960 * std::sqrt(20.0 / 19.0);
constexpr std::size_t resamples = 2000;

double mean(std::span<const double> series) {
  return std::accumulate(series.begin(), series.end(), 0.0) / static_cast<double>(series.size());
}

std::vector<double> means_of(std::span<const double> series, std::uint64_t seed) {
  return bootstrap_means(series, std::max<std::size_t>(series.size() / blocks, 1), resamples, seed);
}

}  // namespace

double Estimate::relative_error() const {
  if (value == 0) return std::numeric_limits<double>::infinity();
  return std::max(interval.high - value, value - interval.low) / std::abs(value);
}

MedianEstimator::MedianEstimator(std::size_t capacity) {
  scratch_.reserve(capacity);
}

Estimate MedianEstimator::estimate(std::span<const double> samples) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  if (samples.empty()) return {0, {-unbounded, unbounded}};

  scratch_.assign(samples.begin(), samples.end());
  const std::size_t length = odd_block_length(samples.size());
  const std::size_t blocks = samples.size() / length;
  // Samples that do not fill a block are dropped at the front: the oldest steps say least about the steady state.
  const std::size_t first = samples.size() - blocks * length;
  std::array<double, max_blocks> medians{};
  for (std::size_t block = 0; block < blocks; ++block) {
    medians[block] = median_in_place(std::span(scratch_).subspan(first + block * length, length));
  }
  std::sort(medians.begin(), medians.begin() + static_cast<std::ptrdiff_t>(blocks));

  const double value = median_in_place(scratch_);
  const std::size_t rank = lower_rank(blocks);
  if (rank == 0) return {value, {-unbounded, unbounded}};
  // The blocks' interval estimates the same median but may not contain this sample median, so it is widened to include
  // it.
  return {value, {std::min(value, medians[rank - 1]), std::max(value, medians[blocks - rank])}};
}

Estimate estimate_mean(std::span<const double> samples) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  if (samples.empty()) return {0, {-unbounded, unbounded}};
  const double value = std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
  const std::size_t length = odd_block_length(samples.size());
  const std::size_t blocks = samples.size() / length;
  if (blocks < least_for_interval) return {value, {-unbounded, unbounded}};
  const auto used = samples.last(blocks * length);
  const double center = std::accumulate(used.begin(), used.end(), 0.0) / static_cast<double>(used.size());
  double squares = 0;
  for (std::size_t block = 0; block < blocks; ++block) {
    const auto part = used.subspan(block * length, length);
    const double mean = std::accumulate(part.begin(), part.end(), 0.0) / static_cast<double>(length);
    squares += (mean - center) * (mean - center);
  }
  const auto degrees = static_cast<double>(blocks - 1);
  const double half = student_t(blocks - 1) * std::sqrt(squares / degrees / static_cast<double>(blocks));
  return {value, {std::min(value, center - half), std::max(value, center + half)}};
}

std::optional<Estimate> estimate_independent(std::span<const double> values) {
  const std::size_t rank = lower_rank(values.size());
  if (rank == 0) return std::nullopt;
  std::vector<double> sorted(values.begin(), values.end());
  std::ranges::sort(sorted);
  return Estimate{sorted_quantile(sorted, 0.5), {sorted[rank - 1], sorted[sorted.size() - rank]}};
}

Estimate estimate_median(std::span<const double> samples) {
  return MedianEstimator(samples.size()).estimate(samples);
}

Estimate estimate_mean_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             std::uint64_t seed) {
  constexpr double unbounded = std::numeric_limits<double>::infinity();
  if (numerator.empty() || denominator.empty()) return {0, {-unbounded, unbounded}};
  const double below = mean(denominator);
  const double value = below == 0 ? 0 : mean(numerator) / below;
  if (numerator.size() < least_for_interval || denominator.size() < least_for_interval || below <= 0 || value <= 0) {
    return {value, {-unbounded, unbounded}};
  }
  std::vector<double> ratios = means_of(numerator, seed);
  const std::vector<double> divisors = means_of(denominator, seed + 1);
  for (std::size_t i = 0; i < ratios.size(); ++i) ratios[i] /= divisors[i];
  std::ranges::sort(ratios);
  // As factors, because a ratio is never negative.
  const auto widened = [&](double p) { return value * std::pow(sorted_quantile(ratios, p) / value, widening); };
  return {value, {std::min(value, widened(0.025)), std::max(value, widened(0.975))}};
}

Interval share_interval(double share, double count) {
  constexpr double z = 1.959963984540054;  // the 97.5 % quantile of the normal distribution
  const double scale = 1 + z * z / count;
  const double middle = (share + z * z / (2 * count)) / scale;
  const double half = z / scale * std::sqrt(share * (1 - share) / count + z * z / (4 * count * count));
  return {std::max(middle - half, 0.0), std::min(middle + half, 1.0)};
}

}  // namespace gpubench
