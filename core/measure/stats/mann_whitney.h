// The Mann-Whitney test (Wilcoxon's rank-sum test): whether values of one sample tend to be larger than values of
// another. It uses the order of the values only, so neither outliers nor the scale of the values matter.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gpubench {

/// The two-sided p value. Exact if both samples have fewer than 50 values, or at most 25 if values are equal: then over
/// all ways to divide them into two samples, by how far the rank sum lies from its mean. Otherwise the normal
/// approximation with corrections for ties and continuity. 1 if a sample is empty or all values are equal. Values must
/// not be NaN.
double mann_whitney_p(std::span<const double> a, std::span<const double> b);

/// The largest U (of the side with fewer pairs) at which samples of these sizes, without equal values, have p <
/// `level`; none if p is never that small.
std::optional<std::size_t> largest_u(std::size_t a, std::size_t b, double level);
/// The p value there: the rate at which samples of one distribution get below the level. 0 if none do.
double attained_level(std::size_t a, std::size_t b, double level);

/// The number of pairs (x of a, y of b) with x < y; a pair of equal values counts as a half.
double mann_whitney_u(std::span<const double> a, std::span<const double> b);

/// Exact limits of the test at one level for all sizes of samples up to `largest`, so that a scan over a series looks
/// them up.
class MannWhitneyLimits {
 public:
  MannWhitneyLimits(std::size_t largest, double p);

  /// The largest U (of the side with fewer pairs) at which samples of these sizes differ with a two-sided p of at most
  /// the level, if no values are equal; below 0 if samples of these sizes cannot differ that much. Equal values make
  /// the test more careful. 1 <= a, b <= largest.
  double limit(std::size_t a, std::size_t b) const { return limits_[(a - 1) * largest_ + b - 1]; }

 private:
  std::size_t largest_;
  std::vector<double> limits_;
};

}  // namespace gpubench
