// Resamples a time series in blocks, which keeps the dependence inside them. Random numbers are a function of seed and
// counter, so a resample is the same wherever and in whatever order it is drawn.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpubench {

/// The means of `resamples` resamples as long as the series, made of blocks that start anywhere and wrap around
/// (circular block bootstrap: Politis and Romano 1992, "A circular block-resampling procedure for stationary data").
/// The series is not empty; 1 <= block_length <= its length. Each resample takes one addition for each block.
std::vector<double> bootstrap_means(std::span<const double> series, std::size_t block_length, std::size_t resamples,
                                    std::uint64_t seed);

}  // namespace gpubench
