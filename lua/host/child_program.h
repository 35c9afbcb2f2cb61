// This program anew, with other arguments, within a time and with what it prints.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "core/base/clock.h"

struct lua_State;

namespace gpubench {

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
