#include "core/measure/stats/false_discovery.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/measure/stats/mann_whitney.h"

namespace gpubench {
namespace {

/// Two samples without ties in which `u` of the pairs are out of order.
std::pair<std::vector<double>, std::vector<double>> samples_with_u(std::size_t n, std::size_t m, std::size_t u) {
  std::vector<double> a, b;
  for (std::size_t j = 1; j <= m; ++j) b.push_back(static_cast<double>(j));
  for (std::size_t i = 0; i < n; ++i) {
    const std::size_t passed = std::min(u, m);
    u -= passed;
    a.push_back(static_cast<double>(passed) + 0.5 - 0.4 * static_cast<double>(i) / static_cast<double>(n));
  }
  return {std::move(a), std::move(b)};
}

}  // namespace

std::vector<double> false_discovery_rates(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, {}, [&](std::size_t i) { return p[i]; });
  std::vector<double> rates(p.size());
  double least = 1;
  for (std::size_t rank = p.size(); rank-- > 0;) {
    const double rate = p[order[rank]] * static_cast<double>(p.size()) / static_cast<double>(rank + 1);
    least = std::min(least, rate);
    rates[order[rank]] = least;
  }
  return rates;
}

double attained_level(std::size_t before, std::size_t after, double limit) {
  constexpr std::size_t fine_from = 20;  // from there on, steps between the possible values are small
  if (std::min(before, after) >= fine_from) return limit;
  double attained = 0;
  for (std::size_t u = 0; 2 * u <= before * after; ++u) {
    const auto [a, b] = samples_with_u(before, after, u);
    const double p = mann_whitney_p(a, b);
    if (p >= limit) break;
    attained = p;
  }
  return attained;
}

}  // namespace gpubench
