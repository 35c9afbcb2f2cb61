// `gpubench run --workers N`: starts N processes of this program on this machine with mpirun, and waits for them.
#pragma once
#include <string>
#include <vector>

namespace gpubench {

/// Returns the exit status of the process that failed first; 2 if one died; 128 + the signal that ended all.
/// `arguments` are the program's, including --workers. Throws Error naming the package if mpirun is not on the PATH, if
/// another launcher has started this process, and for a script that can be read only once.
int run_workers(int workers, const std::string& script, const std::vector<std::string>& arguments);

}  // namespace gpubench
