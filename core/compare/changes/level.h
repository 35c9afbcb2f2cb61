// The level that a series has kept, and values far from it: what a night can say at once, before a change lasts.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace gpubench {

/// Farther than both from the level is far: in standard deviations of the noise, and as a share of the level.
inline constexpr double far_in_deviations = 5, far_share = 0.03;

struct Level {
  double center = 0;
  double deviation = 0;      ///< of the noise (qn_scale)
  double share = far_share;  ///< of the center that counts as far
  /// Distances of the latest values from the levels that they belong to.
  std::vector<double> residuals;

  bool is_far(double value) const;
};

/// The level after the last of `changes` (indices of the first value after each, ascending). The noise is that of the
/// latest 40 values around their own levels, so that it is known soon after a change. None of fewer than 10 values.
std::optional<Level> level_of(std::span<const double> values, std::span<const std::size_t> changes);

/// Whether values that were measured again at once, in fresh processes, show that the level has changed: their median
/// is far from it, and they differ from the noise by the Mann-Whitney test (p < 0.001, two-sided).
bool is_confirmed(const Level& level, std::span<const double> again);

/// Of the last values so many on the worse side, far from the level, are a machine that fails now and then.
inline constexpr std::size_t frequent_count = 3, frequent_within = 9;

/// The index of the first of the last nine values that is far from the level on the worse side, where at least three of
/// them are and the last one is. `known_habit`: such a series was reported before; then three are news only where they
/// are improbable beside the share in the 40 values before (binomial distribution, p < 0.001).
/// `share`: as Level::share.
std::optional<std::size_t> frequently_far(std::span<const double> values, std::span<const std::size_t> changes,
                                          bool lower_is_better, bool known_habit, double share = far_share);

}  // namespace gpubench
