// One rank per process, for tensors in the host's memory or, where MPI takes messages from there, in a GPU's.
#pragma once
#include <memory>

#include "core/comm/communicator.h"
#include "core/device/device.h"
#include "core/group/process_group.h"

namespace gpubench {

/// A new communicator with one rank per process; a collective call. It lives until ProcessGroup::conclude().
/// `gpu`: the device whose memory holds the tensors, which must be ready when a collective begins; it outlives the
/// communicator. nullptr: the tensors are in the host's memory.
/// Returns nullptr where MPI does not join the processes, and with a `gpu` in all processes where the MPI library of
/// one takes no messages from GPUs' memory.
std::unique_ptr<Communicator> make_mpi_communicator(ProcessGroup& group, Device* gpu);

}  // namespace gpubench
