// A measured value with a 95 % interval. The interval of a median is distribution-free: the time series is divided into
// blocks, and the interval comes from order statistics of the blocks' medians. Causes are proven by the ratio of two
// series of step times.
#pragma once
#include <cstdint>
#include <optional>
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
  /// The larger distance from the value to an end of its interval, relative to the value; infinite for value 0.
  double relative_error() const;
};

/// Median of a time series with its 95 % interval.
///
/// Steps are autocorrelated (clock changes, other processes), so intervals from single samples would be far too narrow.
/// The series is cut into at most 31 contiguous blocks of equal odd length; block medians are nearly independent if a
/// block is longer than the correlation (batch quantiles: Seila 1982, "A batching approach to quantile estimation in
/// regenerative simulations"). Each of b independent block medians is above or below the true median with equal
/// probability (exactly so for odd block lengths), so the interval between order statistics k and b + 1 - k covers it
/// with probability 1 - 2 P(Binomial(b, 1/2) < k), for any distribution (David and Nagaraja, Order Statistics, 7.1). k
/// is the largest for which that is at least 95 %. Below six samples no such k exists, and the interval is infinite.
class MedianEstimator {
 public:
  /// Reserves memory for `capacity` samples, so that estimate() on up to as many allocates nothing.
  explicit MedianEstimator(std::size_t capacity);
  /// Linear time. An empty series gives value 0 and an infinite interval.
  Estimate estimate(std::span<const double> samples);

 private:
  std::vector<double> scratch_;
};

Estimate estimate_median(std::span<const double> samples);

/// The smallest number of independent values whose median has an interval.
inline constexpr std::size_t least_for_interval = 6;

/// Median of independent values, as those of rounds, with the interval that holds the median of their distribution with
/// a probability of at least 95 %, whatever the distribution: two of the sorted values, as far inside as that allows
/// (David and Nagaraja, Order Statistics, 7.1). nullopt for fewer than least_for_interval values.
std::optional<Estimate> estimate_independent(std::span<const double> values);

/// Mean of a time series with its 95 % interval, from the means of the same blocks by Student's t (batch means: Law,
/// Simulation Modeling and Analysis, 9.5.3). Below six blocks the interval is infinite.
Estimate estimate_mean(std::span<const double> samples);

/// mean(numerator) / mean(denominator) with its 95 % interval: percentiles of 2000 pairs of independent block bootstrap
/// means, with blocks of a twentieth of each series, widened for the small number of blocks. Means, because a median
/// ignores the few steps that carry the cost of all. With fewer than six samples on either side, or a mean that is not
/// positive, the interval is infinite.
Estimate estimate_mean_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             std::uint64_t seed = 1);

/// The 95 % interval of a share that was counted in `count` trials, such as an accuracy on test examples: the score
/// interval, which stays within 0 and 1 (E. B. Wilson, "Probable inference, the law of succession, and statistical
/// inference", 1927). 0 <= share <= 1, count >= 1.
Interval share_interval(double share, double count);

}  // namespace gpubench
