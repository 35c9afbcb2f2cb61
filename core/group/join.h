// Joins the processes that run one script together: those that a launcher has started, which it says in the
// environment, or those that were started by hand and meet where GPUBENCH_NCCL_ID says.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/group/process_group.h"
#include "core/group/rendezvous.h"

namespace gpubench {

struct Launch {
  int rank = 0, size = 1;
  std::string by;  ///< the variable that says so: "OMPI_COMM_WORLD_SIZE=4"
};

/// None for a process of its own, a batch script or a shell of a scheduler included: only its steps are many processes.
/// `variable` is getenv; tests give their own. Throws Error for a number that is none.
std::optional<Launch> find_launch(const std::function<const char*(const char*)>& variable);

/// The group that this process was started in (mpirun, srun, gpubench run --workers, or by hand with
/// GPUBENCH_NCCL_ID); nullptr for a process of its own.
/// Throws Error where a launcher's environment is there and the group cannot be joined.
std::unique_ptr<ProcessGroup> join_process_group(const JoinOptions& options);

/// The group of the processes of `launch`; a collective call of them. Throws Error where MPI cannot be had or knows
/// other processes than the launcher, and for processes that cannot work together, naming both.
std::unique_ptr<ProcessGroup> join_by_mpi(const Launch& launch, const JoinOptions& options);

/// The group of the processes that meet at `rendezvous`; a collective call of them. Throws as Rendezvous::meet, and
/// Error for processes that run different programs or scripts, naming both.
std::unique_ptr<ProcessGroup> join_by_rendezvous(const Rendezvous& rendezvous, const JoinOptions& options);

}  // namespace gpubench
