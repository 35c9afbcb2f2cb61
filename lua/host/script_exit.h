// os.exit ends the script like an uncaught error: objects are closed, runs and files are completed, and the other
// processes of a run are informed.
#pragma once
#include <lua.hpp>
#include <stdexcept>

namespace gpubench::lua {

/// The script has called os.exit; Machine::exit_status has the status.
class ScriptExit : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// Replaces os.exit.
void open_exit(lua_State* L);
/// Throws ScriptExit once the script has called os.exit.
void check_exit(lua_State* L);

}  // namespace gpubench::lua
