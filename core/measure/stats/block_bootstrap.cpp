#include "core/measure/stats/block_bootstrap.h"

#include <algorithm>
#include <cassert>

#include "core/base/split_mix.h"

namespace gpubench {
namespace {

std::uint64_t random_bits(std::uint64_t seed, std::uint64_t counter) {
  return split_mix(seed + (counter + 1) * split_mix_step);
}

}  // namespace

std::vector<double> bootstrap_means(std::span<const double> series, std::size_t block_length, std::size_t resamples,
                                    std::uint64_t seed) {
  assert(!series.empty() && block_length >= 1 && block_length <= series.size());
  // Prefix sums over the series repeated twice: a block's sum is a difference of two.
  const std::size_t size = series.size();
  std::vector<double> before(2 * size + 1, 0.0);
  for (std::size_t i = 0; i < 2 * size; ++i) before[i + 1] = before[i] + series[i % size];

  std::vector<double> means;
  means.reserve(resamples);
  std::uint64_t counter = 0;
  for (std::size_t resample = 0; resample < resamples; ++resample) {
    double sum = 0;
    for (std::size_t drawn = 0; drawn < size;) {
      const std::size_t length = std::min(block_length, size - drawn);
      const auto start = static_cast<std::size_t>(random_bits(seed, counter++) % size);
      sum += before[start + length] - before[start];
      drawn += length;
    }
    means.push_back(sum / static_cast<double>(size));
  }
  return means;
}

}  // namespace gpubench
