#include "core/compare/changes/find_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/measure/stats/mann_whitney.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

// Chosen by cross-validation on series that people annotated; docs/changes.md has the figures.

/// Values compared on each side of a place.
constexpr std::size_t window = 40;
/// Fewer values before a place do not show what is usual there, and fewer from it on may be a burst of outliers.
constexpr std::size_t fewest_before = 10;
constexpr std::size_t fewest_after = 6;
/// After a change, as many as showed it: else a level that lasts for less than `fewest_before` values has no end.
constexpr std::size_t fewest_since_change = 6;
/// Two-sided level of one test. Each value adds about 35 tests, which depend on each other.
constexpr double level = 1e-5;
/// Least distance between the medians on both sides, in standard deviations of the values around them: people do not
/// see a smaller one, however sure the test is.
constexpr double least_in_noise = 2.3;
/// Least distance between the medians, as a share of the span that the series had before: where a series has moved by
/// much, a small move is no news.
constexpr double least_in_span = 0.25;
/// How far the place of a change may be from the one whose sides differ most.
constexpr std::size_t reach_of_place = 10;
/// The span leaves out this share of the values at either end, which may be outliers.
constexpr double tail = 0.05;
/// Values that the span is taken of.
constexpr std::size_t history = 1000;

struct Split {
  std::size_t before;
  std::size_t after;
  /// Pairs in which the value after is larger; equal ones count as a half.
  double u;

  double pairs() const { return static_cast<double>(before) * static_cast<double>(after); }
  double pairs_against() const { return std::min(u, pairs() - u); }
  /// Distance from equality, in standard deviations of U.
  double distance() const {
    return std::fabs(u - pairs() / 2) / std::sqrt(pairs() * static_cast<double>(before + after + 1) / 12);
  }
};

/// Keeps U of all places while values are added one by one. A place is the index of the first value after a possible
/// change: U compares up to `window` values before it with all values from it on, which are at most `window`.
class Scan {
 public:
  explicit Scan(std::span<const double> values) : values_(values), u_(values.size()) {}

  /// Adds the pairs of the next value with the values before each place. From one place to the one before it, at most
  /// two of these values differ.
  void add() {
    const std::size_t last = size_++;
    const double value = values_[last];
    const auto pairs = [&](std::size_t i) { return values_[i] < value ? 1.0 : values_[i] == value ? 0.5 : 0.0; };
    double smaller = 0;
    for (std::size_t i = first_before(last); i < last; ++i) smaller += pairs(i);
    u_[last] = smaller;
    for (std::size_t place = last; place-- > first_place();) {
      smaller -= pairs(place);
      if (first_before(place) < first_before(place + 1)) smaller += pairs(first_before(place));
      u_[place] += smaller;
    }
  }

  /// Begins a new segment at `place`: values before it are compared with no later ones any more.
  void cut(std::size_t place) {
    const std::size_t size = size_;
    std::fill(u_.begin() + static_cast<std::ptrdiff_t>(place), u_.begin() + static_cast<std::ptrdiff_t>(size), 0.0);
    begin_ = place;
    for (size_ = place; size_ < size;) add();
  }

  std::size_t size() const { return size_; }
  /// How many values the current segment has at least before a place that it is split at.
  std::size_t fewest() const { return begin_ == 0 ? fewest_before : fewest_since_change; }
  /// Places from here to size() - 1 can be split at.
  std::size_t first_place() const { return std::max(begin_ + 1, size_ - std::min(size_, window)); }
  Split split(std::size_t place) const { return {place - first_before(place), size_ - place, u_[place]}; }

 private:
  std::size_t first_before(std::size_t place) const { return std::max(begin_, place - std::min(place, window)); }

  std::span<const double> values_;
  std::vector<double> u_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
};

bool is_significant(const Split& split, std::size_t fewest, const MannWhitneyLimits& limits) {
  return split.before >= fewest && split.after >= fewest_after &&
         split.pairs_against() <= limits.limit(split.before, split.after);
}

/// The place whose sides differ most among those that differ significantly.
std::optional<std::size_t> significant_place(const Scan& scan, const MannWhitneyLimits& limits) {
  std::optional<std::size_t> found;
  double farthest = 0;
  for (std::size_t place = scan.first_place(); place < scan.size(); ++place) {
    const Split split = scan.split(place);
    if (!is_significant(split, scan.fewest(), limits) || split.distance() <= farthest) continue;
    farthest = split.distance();
    found = place;
  }
  return found;
}

double quantile_in_place(std::vector<double>& values, double p) {
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(std::lround(p * static_cast<double>(values.size() - 1)));
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

/// Whether the distance between both sides matters beside the noise and beside what the series did before.
bool is_large(std::span<const double> known, std::size_t place, const Split& split) {
  std::vector<double> before(known.begin() + static_cast<std::ptrdiff_t>(place - split.before),
                             known.begin() + static_cast<std::ptrdiff_t>(place));
  std::vector<double> after(known.begin() + static_cast<std::ptrdiff_t>(place), known.end());
  const double center_before = median_in_place(before);
  const double center_after = median_in_place(after);
  const double distance = std::fabs(center_after - center_before);
  for (double& value : before) value = std::fabs(value - center_before);
  for (const double value : after) before.push_back(std::fabs(value - center_after));
  if (distance < least_in_noise * deviation_per_median_deviation * median_in_place(before)) return false;
  const std::size_t past = std::min(place, history);
  std::vector<double> earlier(known.begin() + static_cast<std::ptrdiff_t>(place - past),
                              known.begin() + static_cast<std::ptrdiff_t>(place));
  const double span = quantile_in_place(earlier, 1 - tail) - quantile_in_place(earlier, tail);
  return distance >= least_in_span * span;
}

/// The sum of the distances of values from their median.
double spread_of(std::span<const double> values) {
  std::vector<double> copy(values.begin(), values.end());
  const double center = median_in_place(copy);
  double sum = 0;
  for (const double value : copy) sum += std::fabs(value - center);
  return sum;
}

/// The place near `near` that leaves the least spread around the medians of both sides. The place whose sides differ
/// most is often one or two values early, because the test prefers sides of equal length.
std::size_t place_of_least_spread(std::span<const double> known, std::size_t near, const Split& split,
                                  std::size_t fewest) {
  const std::size_t begin = near - split.before;
  const std::size_t first = std::max(begin + fewest, near - std::min(near, reach_of_place));
  const std::size_t last = std::min(known.size() - fewest_after, near + reach_of_place);
  std::size_t best = near;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t place = first; place <= last; ++place) {
    const double spread = spread_of(known.subspan(begin, place - begin)) + spread_of(known.subspan(place));
    if (spread >= least) continue;
    least = spread;
    best = place;
  }
  return best;
}

}  // namespace

Changes find_changes(std::span<const double> values) {
  static const MannWhitneyLimits limits(window, level);
  Changes found;
  Scan scan(values);
  while (scan.size() < values.size()) {
    scan.add();
    const std::optional<std::size_t> place = significant_place(scan, limits);
    if (!place) continue;
    const std::span<const double> known = values.first(scan.size());
    const Split split = scan.split(*place);
    if (!is_large(known, *place, split)) continue;
    found.changes.push_back(place_of_least_spread(known, *place, split, scan.fewest()));
    found.alarms.push_back(scan.size() - 1);
    scan.cut(found.changes.back());
  }
  return found;
}

}  // namespace gpubench
