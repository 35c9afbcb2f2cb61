// How much longer one series of step times takes than another, with an interval: the proof of a cause is such a ratio.
#pragma once
#include <cstdint>
#include <span>

#include "core/measure/estimate.h"

namespace gpubench {

/// mean(numerator) / mean(denominator) with its 95 % interval: percentiles of 2000 pairs of independent block bootstrap
/// means, in blocks of a twentieth of each series, widened for their small number. Of means, because a median knows
/// nothing of the few steps that pay for all. Below six samples on either side, or with a mean that is not positive,
/// the interval is infinite.
Estimate estimate_mean_ratio(std::span<const double> numerator, std::span<const double> denominator,
                             std::uint64_t seed = 1);

}  // namespace gpubench
