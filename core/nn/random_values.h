// Random values for initializers: functions of seed and element alone (core/math/philox.h), in blocks that vectorize.
#pragma once
#include <cstdint>
#include <span>

namespace gpubench {

/// Uniform in [low, high).
void fill_uniform(std::span<float> values, std::uint64_t seed, double low, double high);

void fill_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev);

/// Normal values; those beyond two standard deviations of the mean are drawn again.
void fill_truncated_normal(std::span<float> values, std::uint64_t seed, double mean, double stddev);

}  // namespace gpubench
