// Ranks that are threads of one process, on devices that work in the host's memory.
#pragma once
#include <memory>
#include <vector>

#include "core/comm/communicator.h"

namespace gpubench {

/// One for each of `size` ranks. With `reduction_to_one` the first rank adds up for all. A communicator that is
/// destroyed makes the waits of the others end with PeerLost.
std::vector<std::unique_ptr<Communicator>> make_local_communicators(int size, bool reduction_to_one);

}  // namespace gpubench
