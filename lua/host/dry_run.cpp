#include <lua.hpp>
#include <string>

#include "core/base/error.h"
#include "lua/bind/bind.h"
#include "lua/host/natives.h"

namespace gpubench::lua {
namespace {

int refuse_work_now(lua_State* L) {
  throw Error(std::string(lua_tostring(L, lua_upvalueindex(1))) +
              " trains or measures, and a dry run (--dry-run) does neither: move the call into `run` of gb.experiment");
}

// In the table on top of the stack.
void replace_by_refusal(lua_State* L, const char* name, const std::string& shown) {
  Value<std::string>::push(L, shown);
  lua_pushcclosure(L, entry<&refuse_work_now>, 1);
  lua_setfield(L, -2, name);
}

struct Member {
  const char* owner;
  const char* part;
  const char* name;
  const char* shown;
};

constexpr Member members[] = {
    {"Model", "methods", "fit", "model:fit"},
    {"Model", "methods", "evaluate", "model:evaluate"},
    {"Model", "methods", "predict", "model:predict"},
    {"Model", "methods", "profile", "model:profile"},
    {"Strategy", "methods", "run", "strategy:run"},
    {"Tape", "methods", "gradient", "tape:gradient"},
    {"Optimizer", "methods", "apply_gradients", "optimizer:apply_gradients"},
    {"CompiledFunction", "metatable", "__call", "a function made by gb.compile"},
};

void refuse_members(lua_State* L) {
  push_class_registry(L);
  for (const Member& member : members) {
    lua_getfield(L, -1, member.owner);
    lua_getfield(L, -1, member.part);
    replace_by_refusal(L, member.name, member.shown);
    lua_pop(L, 2);
  }
  lua_pop(L, 1);
}

void refuse_measurements(lua_State* L) {
  const Module gb = Module::root(L);
  replace_by_refusal(L, "find_batch_size", "gb.find_batch_size");
  const Module measure = gb.submodule("measure");
  for (lua_pushnil(L); lua_next(L, measure.index()) != 0;) {
    lua_pop(L, 1);
    const std::string name = lua_tostring(L, -1);
    if (name == "share_interval") continue;  // computes from what was counted
    lua_pushvalue(L, measure.index());
    replace_by_refusal(L, name.c_str(), "gb.measure." + name);  // a field that exists may be set during a traversal
    lua_pop(L, 1);
  }
  const Module native = gb.submodule("_native");  // gb.measure.in_process is written in Lua, around this function
  lua_pushvalue(L, native.index());
  replace_by_refusal(L, "probe", "gb.measure.in_process");
  lua_pop(L, 1);
}

}  // namespace

void refuse_work(lua_State* L) {
  refuse_members(L);
  refuse_measurements(L);
}

}  // namespace gpubench::lua
