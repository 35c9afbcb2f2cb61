// Facts about the processor, from the operating system.
#pragma once
#include <string>

namespace gpubench {

/// "AMD EPYC 9354 32-Core Processor"; "CPU" if unknown.
std::string processor_name();
/// Physical cores that this process may run on (hyperthreads count once). At least 1.
int usable_cores();
/// How many threads OpenMP gives a team at most (OMP_THREAD_LIMIT). A larger team is asked for and not given: oneDNN
/// then leaves out the work of the threads that are missing, and says nothing.
int team_limit();

}  // namespace gpubench
