#include "lua/api/modules.h"

#include "lua/api/openers.h"

namespace gpubench::lua {

void open_modules(lua_State* L) {
  open_version(L);
}

}  // namespace gpubench::lua
