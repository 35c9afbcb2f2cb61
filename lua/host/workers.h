// `gpubench run --workers N`: starts N processes of this program on this machine by mpirun, and waits for them.
#pragma once
#include <string>
#include <vector>

namespace gpubench {

/// The exit status: that of the process that failed first; 2 where one died. `arguments` are those of the program,
/// --workers among them. Throws Error naming the package where there is no mpirun on the PATH, and where
/// another launcher has started this process.
int run_workers(int workers, const std::vector<std::string>& arguments);

}  // namespace gpubench
