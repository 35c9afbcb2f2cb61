// How idle OpenMP threads wait. libgomp reads this from the environment when it is loaded, before main(), so the
// program sets it and executes itself again. A policy set by the user is kept.
#pragma once

namespace gpubench {

/// Returns if the process has the policy, else restarts the program with it. Throws Error if the system refuses.
void ensure_thread_policy(char** argv);

}  // namespace gpubench
