// One rank per process, for tensors in host memory, or in GPU memory if MPI supports that.
#pragma once
#include <memory>

#include "core/comm/communicator.h"
#include "core/group/process_group.h"

namespace gpubench {

class Device;

/// A new communicator with one rank per process; a collective call. Valid until ProcessGroup::conclude(). `gpu`: the
/// device whose memory holds the tensors, which must be ready when a collective begins; it must outlive the
/// communicator. nullptr: tensors in host memory. Returns nullptr if MPI does not connect the processes, and, with a
/// `gpu`, in all processes if the MPI library of one of them cannot access GPU memory.
std::unique_ptr<Communicator> make_mpi_communicator(ProcessGroup& group, Device* gpu);

}  // namespace gpubench
