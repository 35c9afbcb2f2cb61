// The name of this machine in runs and histories.
#pragma once
#include <string>

namespace gpubench {

/// GPUBENCH_HOST, for containers that get a new name each time, or else what the system says; "unknown" without one.
std::string own_host_name();
/// Sets GPUBENCH_HOST, for this process and those that it starts. Throws Error for a name that cannot stand in a file's
/// name.
void set_host_name(const std::string& name);

}  // namespace gpubench
