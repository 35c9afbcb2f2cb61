// `gpubench run --workers N`: starts N processes of this program on this machine by mpirun, and waits for them.
#pragma once
#include <string>
#include <vector>

namespace gpubench {

/// The exit status: that of the process that failed first; 2 where one died; 128 + a signal that has ended them all.
/// `arguments` are those of the program, --workers among them. Throws Error naming the package where there is no mpirun
/// on the PATH, where another launcher has started this process, and for a script that can be read only once.
int run_workers(int workers, const std::string& script, const std::vector<std::string>& arguments);

}  // namespace gpubench
