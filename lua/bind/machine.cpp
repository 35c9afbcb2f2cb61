#include "lua/bind/machine.h"

#include <algorithm>
#include <new>
#include <string_view>
#include <utility>

#include "core/base/interrupt.h"
#include "lua/bind/entry.h"

namespace gpubench::lua {

namespace {

// Errors that scripts have caught stay until others push them out.
constexpr std::size_t most_passing = 64;

void stop_or_go_on(lua_State* L, lua_Debug*) {
  check_interrupt();
  lua_sethook(L, nullptr, 0, 0);  // it was set for a request that has been handled
}

}  // namespace

void PassingErrors::add(PassingError error) {
  std::erase_if(errors_, [&](const PassingError& one) { return one.text == error.text; });
  if (errors_.size() == most_passing) errors_.erase(errors_.begin());
  errors_.push_back(std::move(error));
}

PassingError* PassingErrors::find(const std::string& text) {
  const auto found = std::ranges::find(errors_, text, &PassingError::text);
  return found == errors_.end() ? nullptr : &*found;
}

PassingError PassingErrors::take(const std::string& text) {
  const auto found = std::ranges::find(errors_, text, &PassingError::text);
  if (found == errors_.end()) return {nullptr, text, {}};
  PassingError error = std::move(*found);
  errors_.erase(found, errors_.end());
  return error;
}

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

void stop_soon(lua_State* L) {
  lua_sethook(L, hook_entry<&stop_or_go_on>, LUA_MASKCOUNT, 1);
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
