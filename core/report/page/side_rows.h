// Sides as runs for charts: the rows of all sides in one table, a row for each of theirs, with the medians over its
// processes.
#pragma once
#include <span>
#include <vector>

#include "core/compare/side.h"
#include "core/results/run_reader.h"

namespace gpubench {

/// A run for each experiment, with the charts that its own runs have. With two sides or more, an axis names the side.
/// Intervals are those of the median over the processes; fewer than six have none, and a single one keeps its own.
std::vector<Run> runs_of_sides(std::span<const Side> sides);

}  // namespace gpubench
