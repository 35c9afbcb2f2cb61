#include "lua/api/measured.h"

#include "lua/api/openers.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

void set_measured(lua_State* L, const std::vector<double>& samples, const std::shared_ptr<Timeline>& timeline) {
  Value<std::vector<double>>::push(L, samples);
  lua_setfield(L, -2, "samples");
  if (timeline == nullptr) return;
  Value<std::shared_ptr<Timeline>>::push(L, timeline);
  lua_setfield(L, -2, "timeline");
}

void open_measured(lua_State* L) {
  Class<Timeline>{L};
}

}  // namespace gpubench::lua
