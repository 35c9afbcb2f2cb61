#include "lua/host/natives.h"

#include "lua/api/modules.h"
#include "lua/host/child_process.h"

namespace gpubench::lua {

void open_natives(lua_State* L, StateOf state) {
  open_modules(L);
  open_training_probe(L);
  open_command_table(L);
  if (state == StateOf::tuned_script) open_interception(L);
  if (state != StateOf::command) return;
  open_command_modules(L);
  open_child_processes(L);
}

}  // namespace gpubench::lua
