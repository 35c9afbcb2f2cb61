// gb._native.contention: what other programs and the hypervisor took from this process.
//
//   during(f, ...)         calls f; returns what was taken meanwhile, and the results of f. The former: { lost_share,
//                          others_share, stolen_share, delayed_s, cpu_s, involuntary_switches, clock_hz }, as in
//                          core/telemetry/proc/contention.h; what the system does not tell is absent
//   wait_idle(limit_s)     waits until the machine is idle but for this run, at most so long: whether it is, and what
//                          doctor's check `load` finds in the last reading
#include "core/telemetry/proc/contention.h"

#include <cstdlib>
#include <fmt/format.h>
#include <string>
#include <tuple>
#include <utility>

#include "core/base/error.h"
#include "core/doctor/doctor.h"
#include "lua/api/openers.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {

template <>
struct Value<Contention> {
  static void push(lua_State* L, const Contention& contention) {
    lua_newtable(L);
    const std::pair<const char*, std::optional<double>> fields[] = {
        {"lost_share", contention.lost_share},
        {"others_share", contention.others_share},
        {"stolen_share", contention.stolen_share},
        {"delayed_s", contention.delayed_s},
        {"cpu_s", contention.cpu_s},
        {"involuntary_switches", contention.involuntary_switches},
        {"clock_hz", contention.clock_hz},
    };
    for (const auto& [name, value] : fields) {
      Value<std::optional<double>>::push(L, value);
      lua_setfield(L, -2, name);
    }
  }
};

namespace {

/// Set by lua/host/training_probe.cpp: the process that has started this one.
constexpr const char* probe_variable = "GPUBENCH_PROBE_OF";

ContentionSources sources_of(const Session& session) {
  ContentionSources sources;
  if (session.group() != nullptr) sources.neighbours = session.group()->neighbours();
  // What gb.measure.in_process keeps busy beside its process is part of the same run.
  if (const char* const starter = std::getenv(probe_variable)) sources.neighbours.push_back(std::atoi(starter));
  return sources;
}

int during(lua_State* L) {
  if (!Value<LuaFunction>::matches(L, 1))
    throw ArgumentError("argument #1: function expected, got " + type_name_at(L, 1));
  const std::unique_ptr<Sampler> sampler = contention_sampler(sources_of(session_of(L)));
  sampler->begin();
  protected_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  sampler->end();
  Value<Contention>::push(L, contention_of(sampler->readings()[0]));
  lua_insert(L, 1);
  return lua_gettop(L);
}

std::tuple<bool, std::string> wait_idle(lua_State* L, double limit_s) {
  if (!(limit_s >= 0 && limit_s <= longest_wait_for_idle_machine.count())) {
    throw Error(fmt::format("gb._native.contention.wait_idle: {} s are no time to wait; 0 to {} s are possible",
                            limit_s, longest_wait_for_idle_machine.count()));
  }
  Ticker ticker;
  const Contention last = wait_for_idle_machine(sources_of(session_of(L)), Seconds(limit_s), ticker);
  return {last.is_idle(), load_result(last).found};
}

}  // namespace

void open_contention(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  const Module contention = native.submodule("contention");
  contention.function<&during, any_number>("during").function<&wait_idle>("wait_idle");
}

}  // namespace gpubench::lua
