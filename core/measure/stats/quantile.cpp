#include "core/measure/stats/quantile.h"

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <vector>

namespace gpubench {

double sorted_quantile(std::span<const double> sorted, double p) {
  assert(!sorted.empty() && p >= 0 && p <= 1);
  const double position = p * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  if (below + 1 >= sorted.size()) return sorted.back();
  const double fraction = position - static_cast<double>(below);
  return sorted[below] + fraction * (sorted[below + 1] - sorted[below]);
}

double median_in_place(std::span<double> samples) {
  assert(!samples.empty());
  const auto middle = samples.begin() + static_cast<std::ptrdiff_t>(samples.size() / 2);
  std::nth_element(samples.begin(), middle, samples.end());
  if (samples.size() % 2 == 1) return *middle;
  return 0.5 * (*std::max_element(samples.begin(), middle) + *middle);
}

double quantile(std::span<const double> samples, double p) {
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return sorted_quantile(sorted, p);
}

double median(std::span<const double> samples) {
  std::vector<double> copy(samples.begin(), samples.end());
  return median_in_place(copy);
}

}  // namespace gpubench
