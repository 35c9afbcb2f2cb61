// Resamples a time series in blocks, which keeps the dependence within them. Random numbers are a function of seed and
// counter, so resamples do not depend on the order of drawing.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace gpubench {

/// The means of `resamples` resamples of the series' length, from blocks that start anywhere and wrap around (circular
/// block bootstrap: Politis and Romano 1992, "A circular block-resampling procedure for stationary data"). The series
/// must not be empty; 1 <= block_length <= its length. Each resample takes one addition per block.
std::vector<double> bootstrap_means(std::span<const double> series, std::size_t block_length, std::size_t resamples,
                                    std::uint64_t seed);

}  // namespace gpubench
