// How idle threads of an OpenMP team wait. libgomp reads this from the environment when it is loaded, before main()
// runs, so the program sets it and starts itself again; what the user has set stays.
#pragma once

namespace gpubench {

/// Returns in a process that has the policy, else becomes one. Throws Error when the system refuses.
void ensure_thread_policy(char** argv);

}  // namespace gpubench
