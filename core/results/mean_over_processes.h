// Combines the rows of several processes into one table, which claims and charts use.
#pragma once
#include <span>
#include <vector>

#include "core/results/record.h"

namespace gpubench {

/// One row for each row of process 0, in its order; the k-th rows of a point in all processes are combined. A
/// floating-point cell becomes the mean over the processes that have one; other cells are process 0's. A row that is
/// unreliable in one process is unreliable.
std::vector<Record> mean_over_processes(std::span<const Record> records);

}  // namespace gpubench
