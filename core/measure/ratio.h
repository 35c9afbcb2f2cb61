// How much longer one series of step times takes than another, with an interval: the proof of a cause is such a ratio.
#pragma once
#include <cstdint>
#include <span>

#include "core/measure/estimate.h"

namespace gpubench {

/// median(numerator) / median(denominator) with its 95 % interval: percentiles of 2000 pairs of independent block
/// bootstrap medians, in blocks of a thirtieth of each series, as in MedianEstimator. Below six samples on either side,
/// or with a median that is not positive, the interval is infinite.
Estimate estimate_median_ratio(std::span<const double> numerator, std::span<const double> denominator,
                               std::uint64_t seed = 1);

}  // namespace gpubench
