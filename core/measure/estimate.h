// A measured figure has a value and a 95 % interval. The interval of a median is distribution-free: block
// the series in time, take each block's median, and read the interval off the order statistics of those. A cause is
// proven by the ratio of two series of step times.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace gpubench {

struct Interval {
  double low = 0;
  double high = 0;

  bool operator==(const Interval&) const = default;
  bool contains(double value) const { return low <= value && value <= high; }
  bool overlaps(const Interval& other) const { return low <= other.high && other.low <= high; }
};

struct Estimate {
  double value = 0;
  Interval interval;

  bool operator==(const Estimate&) const = default;
  /// The larger distance from the value to an end of its interval, as a share of the value; infinite for value 0.
  double relative_error() const;
};

/// Median of a time series with its 95 % interval.
///
/// Steps are autocorrelated (frequency changes, other processes), so single samples would give an interval that is far
/// too narrow. At most 31 contiguous blocks of equal odd length are cut; block medians are nearly independent once a
/// block is longer than the correlation (batch quantiles: Seila 1982, "A batching approach to quantile estimation in
/// regenerative simulations"). For b independent block medians, each of which is as likely above the true median as
/// below it, the interval between order statistics k and b + 1 - k covers it with probability
/// 1 - 2 P(Binomial(b, 1/2) < k), whatever the distribution (David and Nagaraja, Order Statistics, 7.1); k is the
/// largest for which that is at least 95 %. For odd block lengths this symmetry is exact. Below six samples no such k
/// exists: the interval is infinite on both sides.
class MedianEstimator {
 public:
  /// Reserves for `capacity` samples, so that estimate() on as many allocates nothing.
  explicit MedianEstimator(std::size_t capacity);
  /// Linear time. An empty series gives value 0 and an infinite interval.
  Estimate estimate(std::span<const double> samples);

 private:
  std::vector<double> scratch_;
};

Estimate estimate_median(std::span<const double> samples);

/// Mean of a time series with its 95 % interval, from the means of the same blocks by Student's t (batch means: Law,
/// Simulation Modeling and Analysis, 9.5.3). Below six blocks the interval is infinite on both sides.
Estimate estimate_mean(std::span<const double> samples);

/// mean(numerator) / mean(denominator) with its 95 % interval: percentiles of 2000 pairs of independent block bootstrap
/// means, in blocks of a twentieth of each series, widened for their small number. Of means, because a median knows
/// nothing of the few steps that pay for all. Below six samples on either side, or with a mean that is not positive,
/// the interval is infinite.
Estimate estimate_mean_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             std::uint64_t seed = 1);

}  // namespace gpubench
