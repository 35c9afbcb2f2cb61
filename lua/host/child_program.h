// Programs that this one starts: itself anew, with other arguments.
#pragma once
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "core/base/clock.h"

struct lua_State;

namespace gpubench {

/// Starts this program with `arguments` in a process of its own. `out`: the descriptor of its standard output; our own
/// if below 0. Throws Error, starting with `operation`, if none can be started.
pid_t start_program(const std::vector<std::string>& arguments, int out, const std::string& operation);
/// Of waitpid's status: the exit status, or 128 + the signal that ended it.
int exit_status_of(int status);

struct ChildEnd {
  int status = 0;
  std::string out;  ///< its standard output
  /// It was stopped because its time was up. Its files are complete unless it had to be killed.
  bool out_of_time = false;
};

/// Runs this program with `arguments` to its end, for at most `limit`: then it gets SIGTERM, and SIGKILL half a minute
/// later. A request to stop this program is handed on to it.
ChildEnd run_program_within(const std::vector<std::string>& arguments, std::optional<Seconds> limit,
                            const std::string& operation);

namespace lua {
/// gb._native.programs.run(arguments, limit_s) -> { status, out, out_of_time }: for commands of the library only, since
/// a script must not start programs.
void open_programs(lua_State* L);
}  // namespace lua

}  // namespace gpubench
