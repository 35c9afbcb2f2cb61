#include "core/measure/stats/fences.h"

#include <algorithm>
#include <vector>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {
constexpr double kMildFence = 1.5;
constexpr double kSevereFence = 3.0;
}  // namespace

OutlierCounts classify_outliers(std::span<const double> samples) {
  OutlierCounts counts;
  if (samples.empty()) return counts;
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const double first = sorted_quantile(sorted, 0.25);
  const double third = sorted_quantile(sorted, 0.75);
  const double range = third - first;
  for (const double sample : sorted) {
    if (sample < first - kSevereFence * range) {
      ++counts.low_severe;
    } else if (sample < first - kMildFence * range) {
      ++counts.low_mild;
    } else if (sample > third + kSevereFence * range) {
      ++counts.high_severe;
    } else if (sample > third + kMildFence * range) {
      ++counts.high_mild;
    }
  }
  return counts;
}

}  // namespace gpubench
