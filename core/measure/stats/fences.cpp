#include "core/measure/stats/fences.h"

#include <algorithm>
#include <vector>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {
constexpr double mild_fence = 1.5;
constexpr double severe_fence = 3.0;
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
    if (sample < first - severe_fence * range) {
      ++counts.low_severe;
    } else if (sample < first - mild_fence * range) {
      ++counts.low_mild;
    } else if (sample > third + severe_fence * range) {
      ++counts.high_severe;
    } else if (sample > third + mild_fence * range) {
      ++counts.high_mild;
    }
  }
  return counts;
}

}  // namespace gpubench
