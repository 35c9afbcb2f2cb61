#include "core/measure/stats/block_bootstrap.h"

#include <algorithm>
#include <cassert>
#include <numeric>

#include "core/base/split_mix.h"

namespace gpubench {
namespace {

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  return split_mix(seed + (counter + 1) * split_mix_step);
}

// Calls `use(start, length)` for the blocks of the next resample, which wrap around.
template <class Use>
void draw_blocks(std::size_t size, std::size_t block_length, std::uint64_t seed, std::uint64_t& counter, Use&& use) {
  for (std::size_t drawn = 0; drawn < size;) {
    const std::size_t length = std::min(block_length, size - drawn);
    use(static_cast<std::size_t>(random_bits(seed, counter++) % size), length);
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
    std::ranges::fill(counts, 0);
    draw_blocks(series.size(), block_length, seed, counter, [&](std::size_t start, std::size_t length) {
      for (std::size_t i = 0; i < length; ++i) ++counts[(start + i) % counts.size()];
    });
    medians.push_back(median_of(series, ascending, counts));
  }
  return medians;
}

std::vector<double> bootstrap_means(std::span<const double> series, std::size_t block_length, std::size_t resamples,
                                    std::uint64_t seed) {
  assert(!series.empty() && block_length >= 1 && block_length <= series.size());
  // Sums of all that is before a position, twice around: a block's sum is a difference.
  const std::size_t size = series.size();
  std::vector<double> before(2 * size + 1, 0.0);
  for (std::size_t i = 0; i < 2 * size; ++i) before[i + 1] = before[i] + series[i % size];

  std::vector<double> means;
  means.reserve(resamples);
  std::uint64_t counter = 0;
  for (std::size_t resample = 0; resample < resamples; ++resample) {
    double sum = 0;
    draw_blocks(size, block_length, seed, counter,
                [&](std::size_t start, std::size_t length) { sum += before[start + length] - before[start]; });
    means.push_back(sum / static_cast<double>(size));
  }
  return means;
}

}  // namespace gpubench
