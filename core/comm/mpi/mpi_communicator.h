// One rank per process, for tensors in the host's memory or, where MPI takes messages from there, in a GPU's.
#pragma once
#include <memory>

#include "core/comm/communicator.h"
#include "core/comm/mpi/mpi_link.h"
#include "core/device/device.h"

namespace gpubench {

/// `channel` is one that no other has, the same in all processes. The link outlives it.
/// `gpu`: whose memory holds the tensors; it outlives the communicator. nullptr for the host's.
std::unique_ptr<Communicator> make_mpi_communicator(MpiLink& link, int channel, Device* gpu);

}  // namespace gpubench
