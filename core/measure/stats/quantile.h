// Quantiles of unordered samples. The sorted variants are for callers that need several quantiles and sort once.
#pragma once
#include <span>

namespace gpubench {

/// Linear interpolation between order statistics (type 7 of Hyndman and Fan, 1996, the default of R and NumPy).
/// `sorted` is ascending and not empty; 0 <= p <= 1.
double sorted_quantile(std::span<const double> sorted, double p);

/// Reorders `samples`, which must not be empty; linear time.
double median_in_place(std::span<double> samples);

/// Copies the samples.
double quantile(std::span<const double> samples, double p);
double median(std::span<const double> samples);

/// Standard deviation of normal values per median of their absolute deviations from the median: 1 / 0.6745.
inline constexpr double deviation_per_median_deviation = 1.4826;

}  // namespace gpubench
