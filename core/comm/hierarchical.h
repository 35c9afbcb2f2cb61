// Ranks that are threads of several processes. The ranks of one process exchange in its memory; the first rank of each
// process exchanges with the other processes and hands the result to the ranks of its own.
#pragma once
#include <memory>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

struct TwoLevels {
  std::vector<std::unique_ptr<Communicator>> ranks;  ///< between the ranks of this process
  std::unique_ptr<Communicator> processes;           ///< between the processes
};

/// One communicator for each rank of this process; ranks count through all processes, each of which has equally many.
/// `inline_levels` carries out run(); `side_levels`, over the same ranks, what runs beside the kernels, by a thread of
/// its own.
std::vector<std::unique_ptr<Communicator>> make_hierarchical_communicators(TwoLevels inline_levels,
                                                                           TwoLevels side_levels);

}  // namespace gpubench
