// Ranks that are threads of one process, on devices that work in the host's memory.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/comm/communicator.h"
#include "core/comm/local/local_algorithm.h"

namespace gpubench {

/// A rank for each element: the memory node that it is near. All-reduces take the way that suits their size, or
/// `all_reduce`. A communicator that is destroyed makes the waits of the others end with PeerLost.
std::vector<std::unique_ptr<Communicator>> make_local_communicators(std::vector<int> node_of_rank,
                                                                    std::optional<LocalAlgorithm> all_reduce);

}  // namespace gpubench
