// `gpubench run --workers N`: starts N processes of this program on this machine with mpirun, and waits for them.
#pragma once
#include <string>
#include <vector>

namespace gpubench {

/// Returns the exit status of the process that failed first; 2 if one died. `arguments` are the program's, including
/// --workers. Throws Error naming the package if mpirun is not on the PATH, and if another launcher has started this
/// process.
int run_workers(int workers, const std::vector<std::string>& arguments);

}  // namespace gpubench
