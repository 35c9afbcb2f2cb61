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

constexpr std::size_t exact_below = 50, exact_with_ties = 25;

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

/// The normal approximation. `cubes`: the sum of t^3 - t over groups of t equal values.
double normal_p(double a, double b, double u, double cubes) {
  const double n = a + b, pairs = a * b;
  const double variance = pairs / 12 * (n + 1 - cubes / (n * (n - 1)));
  if (!(variance > 0)) return 1;
  const double distance = std::max(0.0, pairs / 2 - u - 0.5);
  return std::erfc(distance / std::sqrt(2 * variance));
}

double p_of(std::size_t a, std::size_t b, std::size_t u) {
  if (a < exact_below && b < exact_below) return exact_p(a, b, u);
  return normal_p(static_cast<double>(a), static_cast<double>(b), static_cast<double>(u), 0);
}

/// How many of the values equal each other, in ascending order of the values.
std::vector<std::size_t> groups_of(std::span<const double> a, std::span<const double> b) {
  std::vector<double> all(a.begin(), a.end());
  all.insert(all.end(), b.begin(), b.end());
  std::ranges::sort(all);
  std::vector<std::size_t> groups;
  for (auto begin = all.begin(); begin != all.end();) {
    const auto end = std::upper_bound(begin, all.end(), *begin);
    groups.push_back(static_cast<std::size_t>(end - begin));
    begin = end;
  }
  return groups;
}

/// By the doubled rank sum of the first sample: in how many of the ways to choose `a` of the values it is that.
std::vector<double> ways_by_rank_sum(const std::vector<std::size_t>& groups, std::size_t a) {
  std::vector<std::size_t> ranks;  // doubled, because equal values share the mean of theirs
  for (const std::size_t group : groups) {
    const std::size_t rank = 2 * ranks.size() + group + 1;
    ranks.insert(ranks.end(), group, rank);
  }
  const std::size_t largest =
      std::accumulate(ranks.end() - static_cast<std::ptrdiff_t>(a), ranks.end(), std::size_t{0});
  std::vector<std::vector<double>> ways(a + 1, std::vector<double>(largest + 1, 0.0));
  ways[0][0] = 1;
  for (std::size_t seen = 0; seen < ranks.size(); ++seen) {
    for (std::size_t chosen = std::min(seen + 1, a); chosen > 0; --chosen) {
      for (std::size_t sum = ranks[seen]; sum <= largest; ++sum)
        ways[chosen][sum] += ways[chosen - 1][sum - ranks[seen]];
    }
  }
  return std::move(ways[a]);
}

double exact_p_with_ties(const std::vector<std::size_t>& groups, std::size_t a, std::size_t b, double u) {
  thread_local std::map<std::pair<std::vector<std::size_t>, std::size_t>, std::vector<double>> known;
  constexpr std::size_t most_known = 1000;
  if (known.size() > most_known) known.clear();
  std::vector<double>& ways = known[{groups, a}];
  if (ways.empty()) ways = ways_by_rank_sum(groups, a);
  // U and the rank sum differ by a constant.
  const auto mean = static_cast<double>(a * (a + b + 1)), distance = std::abs(static_cast<double>(a * b) - 2 * u);
  double as_far = 0;
  for (std::size_t sum = 0; sum < ways.size(); ++sum)
    if (std::abs(static_cast<double>(sum) - mean) >= distance - 0.5) as_far += ways[sum];
  return std::min(1.0, as_far / binomial(a + b, a));
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
  const std::vector<std::size_t> groups = groups_of(a, b);
  if (groups.size() == a.size() + b.size()) return p_of(a.size(), b.size(), static_cast<std::size_t>(u));
  if (groups.size() == 1) return 1;
  if (std::max(a.size(), b.size()) <= exact_with_ties) return exact_p_with_ties(groups, a.size(), b.size(), u);
  double cubes = 0;
  for (const std::size_t group : groups) {
    const auto equal = static_cast<double>(group);
    cubes += equal * equal * equal - equal;
  }
  return normal_p(static_cast<double>(a.size()), static_cast<double>(b.size()), u, cubes);
}

std::optional<std::size_t> largest_u(std::size_t a, std::size_t b, double level) {
  const std::size_t middle = a * b / 2;
  if (p_of(a, b, 0) >= level) return std::nullopt;
  std::size_t below = 0, not_below = middle + 1;  // p rises with u
  while (not_below - below > 1) {
    const std::size_t u = (below + not_below) / 2;
    (u <= middle && p_of(a, b, u) < level ? below : not_below) = u;
  }
  return below;
}

double attained_level(std::size_t a, std::size_t b, double level) {
  const std::optional<std::size_t> u = largest_u(a, b, level);
  return u ? p_of(a, b, *u) : 0;
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
