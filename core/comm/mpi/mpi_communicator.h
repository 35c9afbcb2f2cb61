// One rank per process, on devices that work in the host's memory.
#pragma once
#include <memory>

#include "core/comm/communicator.h"
#include "core/comm/mpi/mpi_link.h"

namespace gpubench {

/// `channel` is one that no other has, the same in all processes. The link outlives it.
std::unique_ptr<Communicator> make_mpi_communicator(MpiLink& link, int channel);

}  // namespace gpubench
