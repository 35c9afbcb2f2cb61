// Seeded series of step times with a known median, independent or autocorrelated.
#pragma once
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

namespace gpubench {

/// exp(x) x 1 ms with x a first-order autoregressive series of unit variance: skewed like step times, median 1 ms.
inline std::vector<double> lognormal_series(std::size_t count, double correlation, double spread, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<double> normal;
  const double innovation = std::sqrt(1 - correlation * correlation);
  double x = normal(engine);
  std::vector<double> series;
  for (std::size_t i = 0; i < count; ++i) {
    series.push_back(1e-3 * std::exp(spread * x));
    x = correlation * x + innovation * normal(engine);
  }
  return series;
}

}  // namespace gpubench
