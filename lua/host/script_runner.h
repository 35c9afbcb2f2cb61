// Runs a script or one of the library's commands in a fresh Lua state.
#pragma once
#include <string>
#include <vector>

#include "lua/host/command_line.h"

namespace gpubench {

/// Exit status after an error has been reported.
inline constexpr int error_status = 2;

/// Returns the exit status. Errors are printed to stderr, with the script's line first.
int run_command(const CommandLine& line, const std::vector<std::string>& arguments);

}  // namespace gpubench
