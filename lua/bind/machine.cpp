#include "lua/bind/machine.h"

#include <new>
#include <string_view>

namespace gpubench::lua {

void Machine::release(int reference) {
  if (on_own_thread()) {
    if (open_) luaL_unref(main_, LUA_REGISTRYINDEX, reference);
    return;
  }
  const std::lock_guard lock(mutex_);
  released_.push_back(reference);
}

void Machine::free_released() {
  const std::lock_guard lock(mutex_);
  for (const int reference : released_) luaL_unref(main_, LUA_REGISTRYINDEX, reference);
  released_.clear();
}

State::State() : L_(luaL_newstate()) {
  if (!L_) throw std::bad_alloc();
  machine_ = std::make_shared<Machine>(L_);
  machine_->self_ = machine_;
  *static_cast<Machine**>(lua_getextraspace(L_)) = machine_.get();
}

State::~State() {
  lua_close(L_);
  machine_->open_ = false;
}

std::string script_position(lua_State* L) {
  lua_Debug frame;
  for (int level = 0; lua_getstack(L, level, &frame) != 0; ++level) {
    lua_getinfo(L, "Sl", &frame);
    if (frame.currentline <= 0 || std::string_view(frame.source).starts_with(library_prefix)) continue;
    return std::string(frame.short_src) + ":" + std::to_string(frame.currentline) + ": ";
  }
  return {};
}

}  // namespace gpubench::lua
