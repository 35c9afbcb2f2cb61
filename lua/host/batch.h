// Several scripts, one after the other, each in a process of its own: one that fails or is killed costs the others
// nothing.
#pragma once
#include <string>
#include <vector>

namespace gpubench {

/// Runs each script with `options`, and prints a line for each at the end: to standard error if `for_programs`, because
/// standard output is then read by one. Returns the exit status that comes first of
/// 2, 3, 1 and 0. Ctrl-C, SIGTERM and SIGHUP end the script that runs, and the others do not begin. Throws Error if a
/// process cannot be started.
int run_each(const std::vector<std::string>& scripts, const std::vector<std::string>& options, bool for_programs);

}  // namespace gpubench
