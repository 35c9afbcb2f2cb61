#include <fmt/format.h>

#include "core/base/error.h"
#include "core/group/join.h"

namespace gpubench {

std::unique_ptr<ProcessGroup> join_by_mpi(const ProcessLaunch& launch, const JoinOptions&) {
  throw Error(
      fmt::format("a launcher has started this process as one of {} ({}), and this gpubench was built without MPI; "
                  "build it where libopenmpi-dev is installed",
                  launch.size, launch.by));
}

}  // namespace gpubench
