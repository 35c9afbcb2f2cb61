// Joins the processes that run one script together: a launcher started them and describes them in the environment.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/group/process_group.h"

namespace gpubench {

struct ProcessLaunch {
  int rank = 0, size = 1;
  std::string by;  ///< the variable that identified the launch: "OMPI_COMM_WORLD_SIZE=4"
};

/// The launch in the environment. None for a single process, and for a scheduler's batch script or shell, of which only
/// job steps are launches. `variable` is getenv, or a test's replacement. Throws Error for an invalid number.
std::optional<ProcessLaunch> find_launch(const std::function<const char*(const char*)>& variable);

/// The group with which this process was started (mpirun, srun, gpubench run --workers); nullptr for a single
/// process. Throws Error if there is a launcher but the group cannot be joined.
std::unique_ptr<ProcessGroup> join_process_group(const JoinOptions& options);

/// The group of the processes of `launch`; a collective call. Throws Error if MPI is missing or disagrees with the
/// launcher about the processes, and for processes that cannot work together, naming both.
std::unique_ptr<ProcessGroup> join_by_mpi(const ProcessLaunch& launch, const JoinOptions& options);

}  // namespace gpubench
