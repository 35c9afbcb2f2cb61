// Whether a launcher has started this process as one of many, by what it left in the environment.
#pragma once
#include <functional>
#include <optional>
#include <string>

namespace gpubench {

struct Launch {
  int rank = 0, size = 1;
  std::string by;  ///< the variable that says so: "OMPI_COMM_WORLD_SIZE=4"
};

/// None for a process of its own, a batch script or a shell of a scheduler included: only its steps are many processes.
/// `variable` is getenv; tests give their own. Throws Error for a number that is none.
std::optional<Launch> find_launch(const std::function<const char*(const char*)>& variable);

}  // namespace gpubench
