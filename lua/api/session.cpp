#include "lua/api/session.h"

#include <lua.hpp>
#include <unistd.h>
#include <utility>

#include "core/base/error.h"

namespace gpubench::lua {
namespace {

const char registry_key = 0;

}  // namespace

Session::Session(SessionOptions options, std::unique_ptr<ProcessGroup> group)
    : options_(std::move(options)),
      group_(std::move(group)),
      progress_line(activity, STDERR_FILENO),
      placement(options_.threads, options_.device, group_.get(), progress_line),
      random(options_.seed),
      budgets{.point_s = options_.budget_s, .timeout_s = options_.timeout_s} {}

void Session::keep_configuration() {
  placement.keep();
  random.keep();
  kept_types_ = types;
}

void Session::begin_run() {
  placement.release();
  random.restart();
}

void Session::reset() {
  if (!placement.memory_in_use().empty()) return;
  placement.reset();
  random.reset();
  types = kept_types_;
}

void set_session(lua_State* L, Session& session) {
  session.placement.collect_garbage_of(L);
  lua_pushlightuserdata(L, &session);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
}

void end_session(lua_State* L) {
  lua_pushnil(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &registry_key);
}

Session& session_of(lua_State* L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &registry_key);
  auto* session = static_cast<Session*>(lua_touserdata(L, -1));
  lua_pop(L, 1);
  if (session == nullptr) throw Error("the script has ended, and its devices with it; a finalizer comes too late");
  return *session;
}

}  // namespace gpubench::lua
