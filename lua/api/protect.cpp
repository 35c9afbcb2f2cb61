// gb.skip, and what the Lua library needs to survive a failing point: gb._native.protect, fail, raise_interrupt.
#include <cmath>
#include <fmt/format.h>
#include <optional>
#include <sys/time.h>

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

int push_failure(lua_State* L, const char* status, const std::string& reason) {
  const PassingError& error = Machine::of(L).delivered;
  lua_settop(L, 0);
  lua_pushboolean(L, 0);
  lua_pushstring(L, status);
  lua_pushlstring(L, reason.data(), reason.size());
  lua_pushlstring(L, error.traceback.data(), error.traceback.size());
  return 4;
}

// Until it is gone, SIGALRM comes when the time is up.
class Deadline {
 public:
  explicit Deadline(std::optional<double> seconds) : armed_(seconds.has_value()) {
    if (armed_) set_timer(*seconds);
  }
  ~Deadline() {
    if (armed_) set_timer(0);
  }
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  static void set_timer(double seconds) {
    const double whole = std::floor(seconds);
    itimerval timer{};
    timer.it_value.tv_sec = static_cast<time_t>(whole);
    timer.it_value.tv_usec = static_cast<suseconds_t>(std::ceil((seconds - whole) * 999'999));
    setitimer(ITIMER_REAL, &timer, nullptr);
  }

  const bool armed_;
};

// The signal handler has set a hook that stops Lua code; remove it so that the library can store finished rows.
void let_lua_run(lua_State* L) {
  lua_sethook(L, nullptr, 0, 0);
  lua_sethook(Machine::of(L).main(), nullptr, 0, 0);
}

// Leaves the function's results on the stack.
void call_before_deadline(lua_State* L) {
  const Deadline deadline(session_of(L).options().timeout_s);
  protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
}

int push_timeout(lua_State* L) {
  const std::string limit = format_seconds(session_of(L).options().timeout_s.value_or(0));
  return push_failure(L, "timeout", fmt::format("not done after {} (--timeout)", limit));
}

// protect(f, ...) -> true, results... | false, status, reason, traceback; status as in the column of results,
// "interrupted", or an error: "device_lost" and "group_lost", after which no later point can be measured; "peer_lost":
// the failure of another process, which reports the reason itself.
int protect(lua_State* L) {
  if (!Value<LuaFunction>::matches(L, 1))
    throw ArgumentError("argument #1: function expected, got " + type_name_at(L, 1));
  const char* status = "error";
  const TimeoutScope scope;
  try {
    call_before_deadline(L);
    if (timeout_requested()) let_lua_run(L);  // it came when all was done
    lua_pushboolean(L, 1);
    lua_insert(L, 1);
    return lua_gettop(L);
  } catch (const OutOfMemory&) {
    status = "out_of_memory";
  } catch (const DeviceLost&) {
    status = "device_lost";
  } catch (const PeerLost&) {
    status = "peer_lost";
  } catch (const PointSkipped& skipped) {
    if (timeout_requested()) let_lua_run(L);
    return push_failure(L, "skipped", skipped.what());
  } catch (const std::exception&) {
    if (Machine::of(L).exit_status) throw;
  }
  if (interrupt_requested() || timeout_requested()) let_lua_run(L);
  // An interrupt then also stops the running script.
  const ProcessGroup* const group = session_of(L).group();
  if (const std::string lost = group ? group->lost() : ""; !lost.empty()) {
    clear_interrupt();
    if (was_interrupted(*group)) {
      request_interrupt();
      return push_failure(L, "interrupted", lost);
    }
    return push_failure(L, "group_lost", lost);
  }
  if (interrupt_requested()) return push_failure(L, "interrupted", "interrupted");
  if (timeout_requested()) return push_timeout(L);
  return push_failure(L, status, Machine::of(L).delivered.text);
}

void fail(const std::string& message) {
  throw Error(message);
}

}  // namespace

void open_protect(lua_State* L) {
  const Module gb = Module::root(L);
  gb.function<&skip>("skip");
  const Module native = gb.submodule("_native");
  native.function<&protect>("protect").function<&fail>("fail").function<&check_interrupt>("check_interrupt");
}

}  // namespace gpubench::lua
