// Processes that no launcher has started together: they meet where GPUBENCH_NCCL_ID says, and then talk through the
// first of them. For GPUs, whose tensors go over NCCL; CPU devices of many processes need MPI.
#pragma once
#include <memory>

#include "core/group/process_group.h"
#include "core/group/rendezvous.h"

namespace gpubench::nccl {

/// A collective call of all ranks of `rendezvous`. Throws as Rendezvous::meet, and Error for processes that run
/// different programs or scripts, naming both.
std::unique_ptr<ProcessGroup> join(const Rendezvous& rendezvous, const JoinOptions& options);

}  // namespace gpubench::nccl
