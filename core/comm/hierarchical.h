// Ranks that are threads of several processes: those of one process exchange in its memory, the first of each with the
// other processes, and hands on what comes of it.
#pragma once
#include <memory>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/process_group.h"

namespace gpubench {

/// One for each of the local ranks, which count through all processes; each process has equally many. `inline_ranks`
/// and `side_ranks` are two communicators over the same ranks: what runs beside the kernels has a thread of its own. A
/// collective call of the group.
std::vector<std::unique_ptr<Communicator>> make_hierarchical_communicators(
    std::vector<std::unique_ptr<Communicator>> inline_ranks, std::vector<std::unique_ptr<Communicator>> side_ranks,
    ProcessGroup& group);

}  // namespace gpubench
