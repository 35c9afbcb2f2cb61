// Runs a script or one of the library's commands in a fresh Lua state.
#pragma once
#include <string>
#include <vector>

#include "core/group/process_group.h"
#include "lua/host/command_line.h"

namespace gpubench {

/// Exit status after an error has been reported.
inline constexpr int error_status = failed_exit_status;
/// Exit status where what --require asks for does not hold.
inline constexpr int unmet_status = 3;

/// Returns the exit status. Errors are printed to stderr, with the script's line first.
int run_command(const CommandLine& line, const std::vector<std::string>& arguments);

}  // namespace gpubench
