#include "core/measure/stats/block_bootstrap.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace gpubench {
namespace {

// SplitMix64 of a counter (Steele, Lea and Flood 2014, "Fast splittable pseudorandom number generators").
std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  std::uint64_t z = seed + (counter + 1) * 0x9E3779B97F4A7C15u;
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

// How often each position of the series is in the resample.
void count_positions(std::vector<std::int32_t>& counts, std::size_t block_length, std::uint64_t seed,
                     std::uint64_t& counter) {
  std::ranges::fill(counts, 0);
  const std::size_t size = counts.size();
  for (std::size_t drawn = 0; drawn < size;) {
    const std::size_t start = random_bits(seed, counter++) % size;
    const std::size_t length = std::min(block_length, size - drawn);
    for (std::size_t i = 0; i < length; ++i) ++counts[(start + i) % size];
    drawn += length;
  }
}

// The median of a resample that is given by counts, read off in ascending order of the values.
double median_of(std::span<const double> series, std::span<const std::size_t> ascending,
                 std::span<const std::int32_t> counts) {
  const std::size_t lower = (series.size() - 1) / 2;
  const std::size_t upper = series.size() / 2;
  std::size_t passed = 0;
  double low = 0;
  bool low_found = false;
  for (const std::size_t position : ascending) {
    passed += static_cast<std::size_t>(counts[position]);
    if (!low_found && passed > lower) {
      low = series[position];
      low_found = true;
    }
    if (passed > upper) return 0.5 * (low + series[position]);
  }
  return low;
}

}  // namespace

std::vector<double> bootstrap_medians(std::span<const double> series, std::size_t block_length, std::size_t resamples,
                                      std::uint64_t seed) {
  assert(!series.empty() && block_length >= 1 && block_length <= series.size());
  std::vector<std::size_t> ascending(series.size());
  std::iota(ascending.begin(), ascending.end(), std::size_t{0});
  std::ranges::sort(ascending, {}, [&](std::size_t position) { return series[position]; });

  std::vector<std::int32_t> counts(series.size());
  std::vector<double> medians;
  medians.reserve(resamples);
  std::uint64_t counter = 0;
  for (std::size_t resample = 0; resample < resamples; ++resample) {
    count_positions(counts, block_length, seed, counter);
    medians.push_back(median_of(series, ascending, counts));
  }
  return medians;
}

}  // namespace gpubench
