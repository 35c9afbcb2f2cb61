// The ratio of two sides that were each measured by several processes. The process is the unit: figures of one process
// share its memory layout, its clock and its neighbours, so more of them narrow nothing between processes.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "core/measure/estimate.h"

namespace gpubench {

/// The figures of one process, at least one.
using ProcessFigures = std::vector<double>;

/// The median of each process.
std::vector<double> medians_of(std::span<const ProcessFigures> processes);

/// ln(median of `after` / median of `before`), medians over the processes' medians, with its 95 % interval: percentiles
/// of 2000 hierarchical bootstraps, which draw processes and then figures inside each of them, widened for few
/// processes as Student's t is. Infinite for fewer than two processes on a side. All figures must be positive.
Estimate estimate_log_ratio(std::span<const ProcessFigures> before, std::span<const ProcessFigures> after,
                            std::uint64_t seed = 1);

}  // namespace gpubench
