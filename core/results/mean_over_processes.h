// What many processes have measured together, as one table: that is what claims and charts are about.
#pragma once
#include <span>
#include <vector>

#include "core/results/record.h"

namespace gpubench {

/// The rows of process 0, in their order, each with the means of what the processes measured: the k-th rows of a point
/// belong together. Means are those of floating-point cells of the processes that have one; counts, names and the like
/// are process 0's. A row that is unreliable in one process is unreliable.
std::vector<Record> mean_over_processes(std::span<const Record> records);

}  // namespace gpubench
