#include "core/compare/changes/find_outliers.h"

#include <algorithm>
#include <cmath>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

/// Neighbours on each side.
constexpr std::size_t reach = 15;
/// Fewer neighbours do not show how far values spread.
constexpr std::size_t fewest = 5;
/// In standard deviations of the neighbours: 5 is far beyond what the largest of a thousand normal values reaches.
constexpr double far = 5;
/// Standard deviation of normal values per mean of their absolute deviations: sqrt(pi / 2).
constexpr double deviation_per_mean_deviation = 1.2533;

/// Judges the values between two changes.
class Neighbourhood {
 public:
  explicit Neighbourhood(std::span<const double> segment) : segment_(segment) {}

  bool is_far(std::size_t at) {
    neighbours_.clear();
    const std::size_t begin = at - std::min(at, reach);
    const std::size_t end = std::min(at + reach + 1, segment_.size());
    for (std::size_t i = begin; i < end; ++i)
      if (i != at) neighbours_.push_back(segment_[i]);
    if (neighbours_.size() < fewest) return false;
    const double center = median_in_place(neighbours_);
    double sum = 0;
    for (double& value : neighbours_) sum += value = std::fabs(value - center);
    const double median_deviation = median_in_place(neighbours_);
    // Where most neighbours are equal the median says nothing.
    const double deviation = median_deviation > 0
                                 ? deviation_per_median_deviation * median_deviation
                                 : deviation_per_mean_deviation * sum / static_cast<double>(neighbours_.size());
    return std::fabs(segment_[at] - center) > far * deviation;
  }

 private:
  std::span<const double> segment_;
  std::vector<double> neighbours_;
};

}  // namespace

std::vector<std::size_t> find_outliers(std::span<const double> values, std::span<const std::size_t> changes) {
  std::vector<std::size_t> outliers;
  std::size_t begin = 0;
  for (std::size_t next = 0; next <= changes.size(); ++next) {
    const std::size_t end = next < changes.size() ? changes[next] : values.size();
    Neighbourhood neighbourhood(values.subspan(begin, end - begin));
    for (std::size_t at = begin; at < end; ++at)
      if (neighbourhood.is_far(at - begin)) outliers.push_back(at);
    begin = end;
  }
  // The series has not come back from its last values yet.
  for (std::size_t last = values.size(); last > 0 && !outliers.empty() && outliers.back() == last - 1; --last)
    outliers.pop_back();
  return outliers;
}

}  // namespace gpubench
