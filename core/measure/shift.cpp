#include "core/measure/shift.h"

#include <algorithm>
#include <limits>
#include <optional>

#include "core/measure/stats/mann_whitney.h"
#include "core/measure/stats/quantile.h"

namespace gpubench {
namespace {

constexpr double unknown = std::numeric_limits<double>::infinity();

}  // namespace

std::vector<double> medians_of(std::span<const ProcessFigures> processes) {
  std::vector<double> medians;
  medians.reserve(processes.size());
  for (const ProcessFigures& one : processes) medians.push_back(median(one));
  return medians;
}

Shift::Shift(std::vector<double> a, std::vector<double> b) : a_(std::move(a)), b_(std::move(b)) {
  std::ranges::sort(a_);
  std::ranges::sort(b_);
}

double Shift::value() const {
  const std::size_t pairs = a_.size() * b_.size();
  const double upper = difference(pairs / 2);
  return pairs % 2 == 1 ? upper : (difference(pairs / 2 - 1) + upper) / 2;
}

Interval Shift::interval(double level) const {
  const std::optional<std::size_t> refused = largest_u(a_.size(), b_.size(), level);
  if (!refused) return {-unknown, unknown};
  return {difference(*refused), difference(a_.size() * b_.size() - 1 - *refused)};
}

/// Halves the range that it lies in. Differences of a value of b fall as a rises, so that those up to a bound are
/// counted in one pass over both samples, however many pairs there are.
double Shift::difference(std::size_t k) const {
  const auto up_to = [&](double bound) {
    std::size_t count = 0, j = 0;
    for (const double a : a_) {
      while (j < b_.size() && b_[j] - a <= bound) ++j;
      count += j;
    }
    return count;
  };
  double low = b_.front() - a_.back(), high = b_.back() - a_.front();
  if (up_to(low) > k) return low;
  constexpr int halvings = 60;
  for (int i = 0; i < halvings; ++i) {
    const double middle = low + (high - low) / 2;
    if (middle <= low || middle >= high) break;
    (up_to(middle) > k ? high : low) = middle;
  }
  double next = high;  // the least difference above `low`
  std::size_t j = 0;
  for (const double a : a_) {
    while (j < b_.size() && b_[j] - a <= low) ++j;
    if (j < b_.size()) next = std::min(next, b_[j] - a);
  }
  return next;
}

}  // namespace gpubench
