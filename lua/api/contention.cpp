// What other programs take from a measurement, for the experiment library:
//
//   gb._native.contention.begin()           watches from here on
//   gb._native.contention.finish()          { lost_share, others_share, stolen_share, clock_hz }, without what is not
//   known gb._native.contention.wait_idle(limit)  waits for an idle machine for `limit` seconds at most: whether it is
//   idle, and
//                                           the shares of its processors that other programs and the hypervisor took
//   gb._native.contention.disturbed_share   of the processor time that a measurement wants: what it may lose
#include <algorithm>
#include <fmt/format.h>
#include <thread>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

void begin(lua_State* L) {
  session_of(L).contention.begin();
}

int finish(lua_State* L) {
  ContentionWatch& watch = session_of(L).contention;
  if (!watch.watches()) throw ArgumentError("contention.finish: contention.begin comes first");
  const Contention seen = watch.end();
  lua_newtable(L);
  const auto set = [L](const char* name, const std::optional<double>& value) {
    if (!value) return;
    lua_pushnumber(L, *value);
    lua_setfield(L, -2, name);
  };
  set("lost_share", seen.lost_share());
  set("others_share", seen.others_share());
  set("stolen_share", seen.stolen_share());
  set("clock_hz", seen.clock_hz);
  return 1;
}

bool is_idle(const Contention& seen) {
  return seen.others_share().value_or(0) < idle_share && seen.stolen_share().value_or(0) < idle_share / 5;
}

void sleep(Seconds time) {
  const Stopwatch watch;
  while (watch.elapsed() < time) {
    check_interrupt();
    std::this_thread::sleep_for(std::min<Seconds>(interrupt_period, time - watch.elapsed()));
  }
}

int wait_idle(lua_State* L) {
  const Seconds limit(Value<double>::read(L, 1));
  constexpr Seconds look{1};
  ContentionWatch watch;
  const Stopwatch waited;
  Contention seen;
  do {
    watch.begin();
    sleep(std::min(look, limit));
    seen = watch.end();
  } while (!is_idle(seen) && waited.elapsed() < limit);
  lua_pushboolean(L, is_idle(seen));
  lua_pushnumber(L, seen.others_share().value_or(0));
  lua_pushnumber(L, seen.stolen_share().value_or(0));
  return 3;
}

}  // namespace

void open_contention(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module contention = native.submodule("contention");
  constexpr double share = disturbed_share;
  contention.value("disturbed_share", share);
  contention.function<&begin>("begin").function<&finish>("finish").function<&wait_idle>("wait_idle");
}

}  // namespace gpubench::lua
