// Joins the rows that several processes measured into one table, which claims and charts are about.
#pragma once
#include <span>
#include <vector>

#include "core/results/record.h"

namespace gpubench {

/// A row for each row of process 0, in its order; the k-th rows of a point in all processes belong together. A
/// floating-point cell becomes the mean over the processes that have one, any other cell is that of process 0. A row
/// that is unreliable in one process is unreliable.
std::vector<Record> mean_over_processes(std::span<const Record> records);

}  // namespace gpubench
