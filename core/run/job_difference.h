// What makes a step of a watched job longer or shorter than one of an earlier run of it.
#pragma once
#include <span>

#include "core/results/info.h"
#include "core/results/record.h"
#include "core/results/run_reader.h"
#include "core/traces/difference.h"

namespace gpubench {

/// Of the slowest rank on both sides: classes of the rows; parts and lines of the agent's counters (`jobs` as in
/// run.json), which count every step. A step is called longer where the 95 % intervals of both means say so, and the
/// difference is above 1 %; one process on each side does not tell how much processes differ. Throws Error where one
/// side has no step.
TraceDifference job_difference(const Run& before, std::span<const Record> rows, const Info::List& jobs);

}  // namespace gpubench
