// os.exit ends the script as an error does that nothing catches: what lives is closed, runs and files are complete, and
// the other processes of a run learn of it.
#pragma once
#include <lua.hpp>
#include <stdexcept>

namespace gpubench::lua {

/// The script has called os.exit; Machine::exit_status says with what.
class ScriptExit : public std::runtime_error {
 public:
  using runtime_error::runtime_error;
};

/// Puts it in the place of os.exit.
void open_exit(lua_State* L);
/// Throws ScriptExit once the script has called os.exit.
void check_exit(lua_State* L);

}  // namespace gpubench::lua
