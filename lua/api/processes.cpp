// gb.distribute.process_index and num_processes, and what the Lua library needs of the processes that run a script
// together: gb._native.processes.
#include "lua/api/processes.h"

#include <fmt/format.h>
#include <optional>
#include <string>
#include <vector>

#include "core/base/error.h"
#include "core/group/process_group.h"
#include "lua/api/openers.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"

namespace gpubench::lua {
namespace {

/// 0 also for a process of its own.
int process_index(lua_State* L) {
  const ProcessGroup* const group = session_of(L).group();
  Value<int>::push(L, group != nullptr ? group->rank() : 0);
  return 1;
}

int num_processes(lua_State* L) {
  const ProcessGroup* const group = session_of(L).group();
  Value<int>::push(L, group != nullptr ? group->size() : 1);
  return 1;
}

/// For calls that a process of its own never makes.
ProcessGroup& group_of(lua_State* L) {
  if (ProcessGroup* const group = session_of(L).group()) return *group;
  throw Error("gb._native.processes: this process runs the script alone");
}

/// names(): how messages call each process, by rank.
std::vector<std::string> names(lua_State* L) {
  std::vector<std::string> names;
  const ProcessGroup* const group = session_of(L).group();
  for (int rank = 0; group != nullptr && rank < group->size(); ++rank) names.push_back(group->name_of(rank));
  return names;
}

/// conclude(outcome, failure): what all processes made of a point, by rank. `failure` (or nil) says why this one left
/// it.
std::vector<Info> conclude(lua_State* L, const Info& outcome, const std::optional<std::string>& failure) {
  std::vector<Info> outcomes;
  for (const std::string& text : group_of(L).conclude(to_json(outcome), failure.value_or(std::string())))
    outcomes.push_back(parse_json(text, "what another process made of a point"));
  return outcomes;
}

/// gather(value): that of every process, by rank. A collective call.
std::vector<Info> gather(lua_State* L, const Info& value) {
  std::vector<Info> values;
  for (const std::string& text : group_of(L).all_gather(to_json(value)))
    values.push_back(parse_json(text, "what another process has sent"));
  return values;
}

/// agree(text, what): throws where another process has other text. A collective call.
void agree(lua_State* L, const std::string& text, const std::string& what) {
  ProcessGroup& group = group_of(L);
  const std::vector<std::string> texts = group.all_gather(text);
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    if (texts[rank] == texts[0]) continue;
    throw Error(
        fmt::format("processes have to make the same calls in the same order, and {} differ: {} has {}, {} has {}",
                    what, group.name_of(0), texts[0], group.name_of(static_cast<int>(rank)), texts[rank]));
  }
}

/// Returns when all processes have called it.
void barrier(lua_State* L) {
  group_of(L).barrier();
}

/// from_first(text): that of process 0. A collective call.
std::string from_first(lua_State* L, const std::string& text) {
  return group_of(L).broadcast(text, 0);
}

/// lost(): why the processes are no longer complete; "" while they are.
std::string lost(lua_State* L) {
  const ProcessGroup* const group = session_of(L).group();
  return group != nullptr ? group->lost() : std::string();
}

/// reports_for_all(): whether this process prints for all of them; true where it is alone.
bool is_reporter(lua_State* L) {
  const ProcessGroup* const group = session_of(L).group();
  return group == nullptr || reports_for_all(*group);
}

/// threads(): what the CPU devices of each process compute with, by rank. A collective call.
std::vector<std::string> threads(lua_State* L) {
  const Session& session = session_of(L);
  return group_of(L).all_gather(std::to_string(session.placement.cpu_threads()));
}

}  // namespace

void open_processes(lua_State* L) {
  const Module gb = Module::root(L);
  const Module distribute = gb.submodule("distribute");
  distribute.function<&process_index, 0>("process_index").function<&num_processes, 0>("num_processes");
  const Module native = gb.submodule("_native");
  const Module processes = native.submodule("processes");
  processes.function<&names>("names")
      .function<&conclude>("conclude")
      .function<&gather>("gather")
      .function<&agree>("agree")
      .function<&barrier>("barrier")
      .function<&from_first>("from_first")
      .function<&lost>("lost")
      .function<&is_reporter>("reports_for_all")
      .function<&threads>("threads");
}

}  // namespace gpubench::lua
