// The arithmetic that a step needs whatever its batch is. Rows say it since there is a column for it; in older runs it
// follows from two points that differ in nothing but the batch.
#pragma once
#include <span>
#include <string>
#include <vector>

#include "core/results/record.h"

namespace gpubench {

/// The rows, with `fixed_flops_per_step` where others of the run show it. `axes`: those of the sweep.
std::vector<Record> with_fixed_work(std::vector<Record> rows, std::span<const std::string> axes);

}  // namespace gpubench
