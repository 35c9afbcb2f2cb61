// The processes that a launcher has started, joined through Open MPI.
#pragma once
#include <memory>

#include "core/comm/launch.h"
#include "core/comm/process_group.h"

namespace gpubench {

/// A collective call of all processes of the launch. Throws Error where MPI cannot be had or knows other processes than
/// the launcher, and for processes that cannot work together, naming both.
std::unique_ptr<ProcessGroup> join_by_mpi(const Launch& launch, const JoinOptions& options);

}  // namespace gpubench
