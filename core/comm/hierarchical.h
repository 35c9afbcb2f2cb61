// Communication for several ranks in each of several processes. The ranks of a process exchange through its memory; its
// first rank exchanges with the other processes and distributes the result to the ranks of its own process.
#pragma once
#include <memory>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

struct TwoLevels {
  std::vector<std::unique_ptr<Communicator>> ranks;  ///< between the ranks of this process
  std::unique_ptr<Communicator> processes;           ///< between the processes
};

/// One communicator for each rank of this process. Ranks are numbered through all processes, each of which has the same
/// number of them. `inline_levels` carries out run(); `side_levels`, over the same ranks, carries out collectives
/// beside the kernels on its own thread.
std::vector<std::unique_ptr<Communicator>> make_hierarchical_communicators(TwoLevels inline_levels,
                                                                           TwoLevels side_levels);

}  // namespace gpubench
