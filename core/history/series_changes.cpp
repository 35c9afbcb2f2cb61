#include "core/history/series_changes.h"

#include <algorithm>
#include <cmath>

#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

// A level is known from so many values, and is new when so many in a row lie beyond the old one.
constexpr std::size_t known_from = 7, new_after = 5;
// Of the latest values of a level, so many say what it is.
constexpr std::size_t level_window = 30;
// Beyond: this many standard deviations (from the median absolute deviation) from the median, and at least this share.
constexpr double deviations = 4, least_share = 0.01;
// The standard deviation of a normal distribution over its median absolute deviation.
constexpr double of_median_deviation = 1.4826;

struct Level {
  double low, high;

  explicit Level(std::span<const double> values) {
    const double middle = median(values);
    std::vector<double> distances;
    for (const double value : values) distances.push_back(std::abs(value - middle));
    const double reach =
        std::max(deviations * of_median_deviation * median_in_place(distances), least_share * std::abs(middle));
    low = middle - reach;
    high = middle + reach;
  }
  /// 1 above the level, -1 below, 0 in it.
  int side_of(double value) const { return value > high ? 1 : value < low ? -1 : 0; }
};

}  // namespace

SeriesChanges series_changes(std::span<const double> values) {
  SeriesChanges found;
  std::size_t begin = 0;            // of the level
  std::vector<std::size_t> beyond;  // the latest values in a row that lie beyond it, on one side
  int side = 0;
  for (std::size_t at = known_from; at < values.size(); ++at) {
    const std::size_t end = at - beyond.size();
    if (end - begin < known_from) continue;
    const std::size_t first = std::max(begin, end - std::min(end, level_window));
    const int now = Level(values.subspan(first, end - first)).side_of(values[at]);
    if (now != side || now == 0) {
      if (beyond.size() == 1) found.outliers.push_back(beyond.front());
      beyond.clear();
    }
    side = now;
    if (now != 0) beyond.push_back(at);
    if (beyond.size() < new_after) continue;
    found.changes.push_back(beyond.front());
    found.alarms.push_back(at);
    begin = beyond.front();
    beyond.clear();
    side = 0;
  }
  return found;
}

}  // namespace gpubench
