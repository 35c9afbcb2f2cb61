#include "core/compare/changes/find_changes.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "core/compare/changes/level.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

/// Fewer values before a place do not show what is usual there, and fewer from it on may be a burst of outliers.
constexpr std::size_t fewest_before = 10;
constexpr std::size_t fewest_after = 6;
/// After a change, as many as showed it: else a level that lasts for less than `fewest_before` values has no end.
constexpr std::size_t fewest_since_change = 6;
/// Sides that are far apart need no test. This share of the values before may be outliers that reach the other side.
constexpr double outlier_share = 0.1;
/// How far the place of a change may be from the one whose sides differ most.
constexpr std::size_t reach_of_place = 10;
/// Values that stay behind the place: fewer have no spread.
constexpr std::size_t fewest_behind_place = 2;

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
  Scan(std::span<const double> values, std::size_t window) : values_(values), u_(values.size()), window_(window) {}

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
  std::size_t first_place() const { return std::max(begin_ + 1, size_ - std::min(size_, window_)); }
  Split split(std::size_t place) const { return {place - first_before(place), size_ - place, u_[place]}; }

 private:
  std::size_t first_before(std::size_t place) const { return std::max(begin_, place - std::min(place, window_)); }

  std::span<const double> values_;
  std::vector<double> u_;
  std::size_t window_;
  std::size_t begin_ = 0;
  std::size_t size_ = 0;
};

struct Distance {
  double medians = 0;
  double deviation = 0;  ///< of the values around them, by the median deviation
};

Distance distance_of(std::span<const double> known, std::size_t place, const Split& split) {
  std::vector<double> before(known.begin() + static_cast<std::ptrdiff_t>(place - split.before),
                             known.begin() + static_cast<std::ptrdiff_t>(place));
  std::vector<double> after(known.begin() + static_cast<std::ptrdiff_t>(place), known.end());
  const double center_before = median_in_place(before);
  const double center_after = median_in_place(after);
  for (double& value : before) value = std::fabs(value - center_before);
  for (const double value : after) before.push_back(std::fabs(value - center_after));
  return {std::fabs(center_after - center_before), deviation_per_median_deviation * median_in_place(before)};
}

/// How many values before the place lie where those after it are.
std::size_t count_beyond(std::span<const double> known, std::size_t place, const Split& split) {
  const auto ends = std::ranges::minmax_element(known.subspan(place));
  const bool up = split.u > split.pairs() / 2;
  return static_cast<std::size_t>(
      std::ranges::count_if(known.subspan(place - split.before, split.before),
                            [&](double value) { return up ? value >= *ends.min : value <= *ends.max; }));
}

/// Whether both sides hardly overlap and lie far apart: so sure that it needs fewer values than the test.
bool is_far_apart(std::span<const double> known, std::size_t place, const Split& split) {
  const auto outliers = static_cast<std::size_t>(outlier_share * static_cast<double>(split.before));
  if (split.pairs_against() > outlier_share * split.pairs()) return false;  // a fast look first
  if (count_beyond(known, place, split) > outliers) return false;
  const Distance distance = distance_of(known, place, split);
  return distance.medians > 0 && distance.medians >= far_in_deviations * distance.deviation;
}

/// The place whose sides differ most among those that differ for sure.
std::optional<std::size_t> sure_place(const Scan& scan, std::span<const double> known,
                                      const MannWhitneyLimits& limits) {
  std::optional<std::size_t> found;
  double farthest = 0;
  for (std::size_t place = scan.first_place(); place < scan.size(); ++place) {
    const Split split = scan.split(place);
    if (split.before < scan.fewest() || split.after < fewest_after || split.distance() <= farthest) continue;
    const bool differ = split.pairs_against() <= limits.limit(split.before, split.after);
    if (!differ && !is_far_apart(known, place, split)) continue;
    farthest = split.distance();
    found = place;
  }
  return found;
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
  const std::size_t last = std::min(known.size() - fewest_behind_place, near + reach_of_place);
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

ChangeDetector::ChangeDetector(const ChangeRule& rule) : rule_(rule), limits_(rule.window, rule.level) {}

Changes ChangeDetector::find(std::span<const double> values) const {
  Changes found;
  Scan scan(values, rule_.window);
  while (scan.size() < values.size()) {
    scan.add();
    const std::span<const double> known = values.first(scan.size());
    const std::optional<std::size_t> place = sure_place(scan, known, limits_);
    if (!place) continue;
    const Split split = scan.split(*place);
    const Distance distance = distance_of(known, *place, split);
    if (distance.medians < rule_.least_in_noise * distance.deviation) continue;
    found.changes.push_back(place_of_least_spread(known, *place, split, scan.fewest()));
    found.alarms.push_back(scan.size() - 1);
    scan.cut(found.changes.back());
  }
  return found;
}

Changes find_changes(std::span<const double> values) {
  static const ChangeDetector usual(ChangeRule{});
  return usual.find(values);
}

}  // namespace gpubench
