// gb._native.progress: the line of the terminal that standard error is, which says where a sweep stands. Nothing is
// drawn elsewhere, and by no other process than the first.
//
//   show { left_s, call_s, count, text }  draws the line until hide(); what the point is doing is added to it
//   hide()                                removes it, so that other lines can be printed
#include <tuple>
#include <utility>

#include "core/report/text/progress_line.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"
#include "lua/bind/options.h"

namespace gpubench::lua {
namespace {

struct ProgressTable : SweepProgress {
  static constexpr auto fields =
      std::tuple{required("left_s", &SweepProgress::left_s), field("call_s", &SweepProgress::call_s),
                 field("count", &SweepProgress::count), field("text", &SweepProgress::text)};
};

void show(lua_State* L, ProgressTable table) {
  Session& session = session_of(L);
  if (session.group() != nullptr && session.group()->rank() > 0) return;
  session.activity.begin(Phase::preparing);
  session.progress_line.show(std::move(table));
}

void hide(lua_State* L) {
  session_of(L).progress_line.hide();
}

// What a script prints begins in a line of its own, and the line does not come back before the next point.
int hide_and_call(lua_State* L) {
  session_of(L).progress_line.hide();
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

// In the table on top of the stack.
void hide_before(lua_State* L, const char* name) {
  lua_getfield(L, -1, name);
  lua_pushcclosure(L, entry<&hide_and_call>, 1);
  lua_setfield(L, -2, name);
}

}  // namespace

void open_progress(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module progress = native.submodule("progress");
  progress.function<&show>("show").function<&hide>("hide");
  lua_pushglobaltable(L);
  hide_before(L, "print");
  if (lua_getfield(L, -1, "io") == LUA_TTABLE) hide_before(L, "write");
  lua_pop(L, 2);
}

}  // namespace gpubench::lua
