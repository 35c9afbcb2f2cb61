// gb.skip, and what the Lua library needs to survive a failing point: gb._native.protect, fail, raise_interrupt.
#include <fmt/format.h>
#include <optional>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/units.h"
#include "lua/api/openers.h"
#include "lua/api/point_status.h"
#include "lua/api/processes.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"
#include "lua/bind/machine.h"

namespace gpubench::lua {
namespace {

void skip(const std::string& reason) {
  throw PointSkipped(reason);
}

int push_failure(lua_State* L, const char* status, const std::string& reason, const char* memory_of = "") {
  const PassingError& error = Machine::of(L).delivered;
  lua_settop(L, 0);
  lua_pushboolean(L, 0);
  lua_pushstring(L, status);
  lua_pushlstring(L, reason.data(), reason.size());
  lua_pushlstring(L, error.traceback.data(), error.traceback.size());
  lua_pushstring(L, memory_of);
  return 5;
}

// A turn within one of the other kind. Finalizers are the script's code, so garbage is collected in its turns only.
class LuaTurn {
 public:
  LuaTurn(lua_State* L, Turn turn)
      : L_(L), session_(session_of(L)), changes_((turn == Turn::script) != is_turn_of_script()), scope_(turn) {
    if (changes_) exchange(turn == Turn::script);
  }
  ~LuaTurn() {
    if (changes_) exchange(!is_turn_of_script());
  }
  LuaTurn(const LuaTurn&) = delete;
  LuaTurn& operator=(const LuaTurn&) = delete;

 private:
  // The script may have stopped the collector itself.
  void exchange(bool for_script) {
    if (for_script) {
      if (session_.script_collects) lua_gc(L_, LUA_GCRESTART);
    } else {
      session_.script_collects = lua_gc(L_, LUA_GCISRUNNING) != 0;
      lua_gc(L_, LUA_GCSTOP);
    }
  }

  lua_State* const L_;
  Session& session_;
  const bool changes_;
  const TurnScope scope_;
};

// The signal handler has set a hook that stops Lua code; remove it so that the library can store finished rows.
void let_lua_run(lua_State* L) {
  lua_sethook(L, nullptr, 0, 0);
  lua_sethook(Machine::of(L).main(), nullptr, 0, 0);
}

// A request that came in a turn of the program could not stop Lua code then.
void stop_lua_if_asked(lua_State* L) {
  if (interrupt_requested()) stop_soon(L);
}

// Leaves the function's results on the stack.
void call_before_deadline(lua_State* L, std::optional<double> limit_s) {
  const LuaTurn turn(L, Turn::script);
  stop_lua_if_asked(L);
  const Deadline deadline(limit_s);
  protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
}

void check_function(lua_State* L) {
  if (!Value<LuaFunction>::matches(L, 1))
    throw ArgumentError("argument #1: function expected, got " + type_name_at(L, 1));
}

int push_results(lua_State* L) {
  lua_pushboolean(L, 1);
  lua_insert(L, 1);
  return lua_gettop(L);
}

int push_timeout(lua_State* L) {
  const std::string limit = format_seconds(session_of(L).budgets.timeout_s.value_or(0));
  return push_failure(L, "timeout", fmt::format("not done after {} (--timeout)", limit));
}

// protect(f, ...) -> true, results... | false, status, reason, traceback, memory_of; status as in the column of
// results, "interrupted", or an error: "device_lost" and "group_lost", after which no later point can be measured;
// "peer_lost": the failure of another process, which reports the reason itself.
int protect(lua_State* L) {
  check_function(L);
  const char *status = "error", *memory_of = "";
  const TimeoutScope scope;
  try {
    call_before_deadline(L, session_of(L).budgets.timeout_s);
    // It came when all was done.
    if (timeout_requested() || (interrupt_requested() && !is_turn_of_script())) let_lua_run(L);
    return push_results(L);
  } catch (const OutOfMemoryForVariable&) {
    status = "out_of_memory";
    memory_of = "variables";
  } catch (const OutOfMemory&) {
    status = "out_of_memory";
  } catch (const DeviceLost&) {
    status = "device_lost";
  } catch (const PeerLost&) {
    status = "peer_lost";
  } catch (const PointSkipped& skipped) {
    if (timeout_requested() || (interrupt_requested() && !is_turn_of_script())) let_lua_run(L);
    return push_failure(L, "skipped", skipped.what());
  } catch (const std::exception&) {
    if (Machine::of(L).exit_status) throw;
  }
  if (interrupt_requested() || timeout_requested()) let_lua_run(L);
  // An interrupt then also stops the running script.
  ProcessGroup* const group = session_of(L).group();
  if (const std::string lost = group ? group->lost() : ""; !lost.empty()) {
    group->on_end({});  // what it would stop has ended
    clear_interrupt();
    if (const int signal = interrupted_by(*group)) {
      request_interrupt(signal);
      return push_failure(L, "interrupted", lost);
    }
    return push_failure(L, "group_lost", lost);
  }
  if (interrupt_requested()) return push_failure(L, "interrupted", "interrupted");
  if (timeout_requested()) return push_timeout(L);
  return push_failure(L, status, Machine::of(L).delivered.text, memory_of);
}

// Seconds that a function of the script has after a request to stop: the user waits for the end.
constexpr double time_after_request_s = 5;

// ask(f, ...) -> true, results... | false, reason. For what a run asks of a function of the script when its points are
// over, also where the user has stopped it: in a turn of the program the request is set aside, and the function's time
// is short then.
int ask(lua_State* L) {
  check_function(L);
  const bool for_program = !is_turn_of_script();
  std::optional<double> limit_s = session_of(L).budgets.timeout_s;
  std::string_view late = "not done after {} (--timeout)";
  std::optional<RequestSetAside> stopped;
  if (for_program) stopped.emplace();
  if (stopped && *stopped && limit_s.value_or(time_after_request_s) >= time_after_request_s) {
    limit_s = time_after_request_s;
    late = "not done {} after the request to stop";
  }
  const TimeoutScope scope;
  std::string reason;
  try {
    call_before_deadline(L, limit_s);
    if (timeout_requested() || (interrupt_requested() && for_program)) let_lua_run(L);
    return push_results(L);
  } catch (const std::exception&) {
    if (Machine::of(L).exit_status) throw;
    reason = Machine::of(L).delivered.text;
  }
  if (timeout_requested()) reason = fmt::format(fmt::runtime(late), format_seconds(limit_s.value_or(0)));
  if (interrupt_requested()) reason = "interrupted";
  if (timeout_requested() || (interrupt_requested() && for_program)) let_lua_run(L);
  lua_settop(L, 0);
  lua_pushboolean(L, 0);
  lua_pushlstring(L, reason.data(), reason.size());
  return 2;
}

// uninterrupted(f, ...): a turn of the program. Requests to stop wait for its end, but for what it calls by protect.
int uninterrupted(lua_State* L) {
  const LuaTurn turn(L, Turn::program);
  protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

// Twice, for what finalizers have brought back.
void collect_garbage(lua_State* L) {
  lua_gc(L, LUA_GCCOLLECT);
  lua_gc(L, LUA_GCCOLLECT);
}

void fail(const std::string& message) {
  throw Error(message);
}

void fail_requirement(const std::string& message) {
  throw RequirementUnmet(message);
}

}  // namespace

void open_protect(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&skip>("skip");
  const Module native = gb.submodule("_native");
  native.function<&protect, any_number>("protect")
      .function<&ask, any_number>("ask")
      .function<&uninterrupted, any_number>("uninterrupted")
      .function<&collect_garbage>("collect_garbage")
      .function<&fail>("fail")
      .function<&fail_requirement>("fail_requirement")
      .function<&check_interrupt>("check_interrupt");
}

}  // namespace gpubench::lua
