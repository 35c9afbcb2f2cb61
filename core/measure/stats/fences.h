// Tukey's fences: they classify samples and drop none, because a slow step is a finding and not an error.
#pragma once
#include <cstddef>
#include <span>

namespace gpubench {

/// Mild: beyond 1.5 interquartile ranges from the nearer quartile; severe: beyond 3 (Tukey, Exploratory Data Analysis,
/// 1977). A severe sample is not counted as mild too.
struct OutlierCounts {
  std::size_t low_severe = 0;
  std::size_t low_mild = 0;
  std::size_t high_mild = 0;
  std::size_t high_severe = 0;

  bool operator==(const OutlierCounts&) const = default;
  std::size_t total() const { return low_severe + low_mild + high_mild + high_severe; }
};

OutlierCounts classify_outliers(std::span<const double> samples);

}  // namespace gpubench
