#include "core/group/join.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>

#include "core/base/error.h"

namespace gpubench {
namespace {

struct Names {
  const char* size;
  const char* rank;
  const char* also = nullptr;  // must be there too
};
// In the order of trust: mpirun below srun sets its own.
constexpr Names launchers[] = {{"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
                               {"PMI_SIZE", "PMI_RANK"},
                               {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID", "SLURM_STEP_ID"}};

int number(const char* name, const char* text) {
  int value = 0;
  const char* const end = text + std::strlen(text);
  const auto [stop, error] = std::from_chars(text, end, value);
  if (error != std::errc() || stop != end || value < 0) {
    throw Error(fmt::format("the launcher's environment has {}='{}', which is no number of processes", name, text));
  }
  return value;
}

}  // namespace

std::optional<ProcessLaunch> find_launch(const std::function<const char*(const char*)>& variable) {
  for (const Names& names : launchers) {
    const char* const size = variable(names.size);
    const char* const rank = variable(names.rank);
    if (size == nullptr || rank == nullptr || (names.also != nullptr && variable(names.also) == nullptr)) continue;
    const ProcessLaunch launch{number(names.rank, rank), number(names.size, size),
                               fmt::format("{}={}", names.size, size)};
    // srun of one task: a plain run. mpirun -n 1 is asked for as one of many, and takes the same path.
    if (names.also != nullptr && launch.size == 1) continue;
    return launch;
  }
  return std::nullopt;
}

std::unique_ptr<ProcessGroup> join_process_group(const JoinOptions& options) {
  const std::optional<ProcessLaunch> launch = find_launch([](const char* name) { return std::getenv(name); });
  return launch ? join_by_mpi(*launch, options) : nullptr;
}

}  // namespace gpubench
