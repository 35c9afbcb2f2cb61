#include "core/measure/stats/mann_whitney.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <iterator>
#include <map>
#include <numeric>
#include <utility>

namespace gpubench {
namespace {

constexpr std::size_t exact_below = 50;

/// counts[m][u]: the number of orders of n and m distinct values in which u of the n * m pairs are out of order. Begins
/// with n = 0; grow() increments n.
class OrderCounts {
 public:
  OrderCounts(std::size_t largest_m, std::size_t largest_u)
      : counts_(largest_m + 1, std::vector<double>(largest_u + 1, 0.0)) {
    for (std::vector<double>& of_m : counts_) of_m[0] = 1;
  }

  /// The largest of all values belongs either to the first sample, and is then out of order with all m values of the
  /// second, or to the second sample, and is then in order with all values of the first (Mann and Whitney 1947, "On a
  /// test of whether one of two random variables is stochastically larger than the other").
  void grow() {
    for (std::size_t m = 1; m < counts_.size(); ++m) {
      std::vector<double>& now = counts_[m];
      for (std::size_t u = now.size(); u-- > 0;) now[u] = (u >= m ? now[u - m] : 0) + counts_[m - 1][u];
    }
  }

  const std::vector<double>& of(std::size_t m) const { return counts_[m]; }

 private:
  std::vector<std::vector<double>> counts_;
};

double binomial(std::size_t n, std::size_t k) {
  double product = 1;
  for (std::size_t i = 1; i <= k; ++i) product *= static_cast<double>(n - k + i) / static_cast<double>(i);
  return product;
}

/// By u: the number of orders of a and b distinct values in which at most u pairs are out of order, up to half of the
/// pairs. Kept for the next test of as many values: a report tests thousands of rows with the same processes.
const std::vector<double>& orders_up_to(std::size_t a, std::size_t b) {
  thread_local std::map<std::pair<std::size_t, std::size_t>, std::vector<double>> known;
  std::vector<double>& orders = known[{a, b}];
  if (!orders.empty()) return orders;
  OrderCounts counts(b, a * b / 2);
  for (std::size_t n = 0; n < a; ++n) counts.grow();
  std::partial_sum(counts.of(b).begin(), counts.of(b).end(), std::back_inserter(orders));
  return orders;
}

double exact_p(std::size_t a, std::size_t b, std::size_t u) {
  return std::min(1.0, 2 * orders_up_to(a, b)[u] / binomial(a + b, a));
}

struct Ties {
  bool any = false;
  /// The sum of t^3 - t over groups of t equal values.
  double cubes = 0;
};

Ties ties_in(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  Ties ties;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::upper_bound(begin, all.end(), *begin);
    const auto group = static_cast<double>(end - begin);
    ties.any = ties.any || group > 1;
    ties.cubes += group * group * group - group;
    begin = end;
  }
  return ties;
}

}  // namespace

double mann_whitney_u(std::span<const double> a, std::span<const double> b) {
  std::vector<double> sorted(a.begin(), a.end());
  std::ranges::sort(sorted);
  double u = 0;
  for (const double y : b) {
    const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), y);
    u += static_cast<double>(first - sorted.begin()) + 0.5 * static_cast<double>(last - first);
  }
  return u;
}

double mann_whitney_p(std::span<const double> a, std::span<const double> b) {
  if (a.empty() || b.empty()) return 1;
  const auto pairs = static_cast<double>(a.size()) * static_cast<double>(b.size());
  const double in_order = mann_whitney_u(a, b);
  const double u = std::min(in_order, pairs - in_order);
  const Ties ties = ties_in(a, b);
  if (!ties.any && a.size() < exact_below && b.size() < exact_below)
    return exact_p(a.size(), b.size(), static_cast<std::size_t>(u));
  const auto n = static_cast<double>(a.size() + b.size());
  const double variance = pairs / 12 * (n + 1 - ties.cubes / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  const double distance = std::max(0.0, pairs / 2 - u - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

MannWhitneyLimits::MannWhitneyLimits(std::size_t largest, double p) : largest_(largest), limits_(largest * largest) {
  assert(largest >= 1 && p > 0 && p < 1);
  OrderCounts counts(largest, largest * largest / 2);
  for (std::size_t a = 1; a <= largest; ++a) {
    counts.grow();
    for (std::size_t b = 1; b <= largest; ++b) {
      const double allowed = p / 2 * binomial(a + b, a);
      double orders = 0;
      double limit = -1;
      for (std::size_t u = 0; 2 * u < a * b && (orders += counts.of(b)[u]) <= allowed; ++u)
        limit = static_cast<double>(u);
      limits_[(a - 1) * largest + b - 1] = limit;
    }
  }
}

}  // namespace gpubench
