#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <optional>
#include <string>
#include <unistd.h>
#include <vector>

#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/known_names.h"
#include "core/base/program.h"
#include "core/base/resources.h"
#include "core/telemetry/proc/contention.h"
#include "lua/api/results_values.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"
#include "lua/host/child_process.h"
#include "lua/host/natives.h"

namespace gpubench::lua {
namespace {

/// Variables with which a library works differently and loads nothing.
constexpr std::array<std::string_view, 6> variables{"CUDA_LAUNCH_BLOCKING", "CUDA_VISIBLE_DEVICES", "DNNL_MAX_CPU_ISA",
                                                    "NVIDIA_TF32_OVERRIDE", "ONEDNN_MAX_CPU_ISA",   "OMP_THREAD_LIMIT"};
/// Of the time that the measurement may take: starting, reading data and looking around.
constexpr double overhead_s = 60, patience = 10;

struct ProbeTable {
  int processors = 0, neighbours = 0, threads = 0;
  std::uint64_t address_space = 0;
  std::map<std::string, std::string> environment, settings;
  static constexpr auto fields =
      std::tuple{field("processors", &ProbeTable::processors),   field("neighbours", &ProbeTable::neighbours),
                 field("threads", &ProbeTable::threads),         field("address_space", &ProbeTable::address_space),
                 field("environment", &ProbeTable::environment), field("settings", &ProbeTable::settings)};
};

/// lua/gpubench/in_process.lua has checked the numbers.
void check(const ProbeTable& table, const Session& session) {
  if (session.group() != nullptr)
    throw Error("gb.measure.in_process: this is one of several processes; it would join them");
  for (const auto& [name, value] : table.environment) {
    if (std::ranges::find(variables, name) == variables.end())
      throw_unknown_name("gb.measure.in_process: no variable of the environment that can be set:", name, variables);
    if (value.find('\0') != std::string::npos)
      throw Error(fmt::format("gb.measure.in_process: the value of {} has a byte 0", name));
  }
}

Info probe(lua_State* L, const ProbeTable& table) {
  const Session& session = session_of(L);
  check(table, session);
  std::vector<std::string> words{program_path().string(),
                                 "run",
                                 resource("lua/gpubench/helpers/training_probe.lua").string(),
                                 "-q",
                                 "--budget",
                                 fmt::format("{}", session.budgets.measuring_s())};
  if (session.budgets.scatter() == Scatter::of_rounds) words.emplace_back("--set=in_rounds=true");
  if (table.threads > 0) words.insert(words.end(), {"--threads", std::to_string(table.threads)});
  for (const auto& [name, value] : table.settings) words.push_back("--set=" + name + "=" + value);
  ChildOptions options{.output = ChildOutput::captured,
                       .limit = Seconds(overhead_s + patience * session.budgets.measuring_s()),
                       .processors = table.processors,
                       .address_space = table.address_space,
                       .neighbours = table.neighbours};
  for (const auto& [name, value] : table.environment) options.environment.push_back(name + "=" + value);
  options.environment.push_back(fmt::format("GPUBENCH_PROBE_OF={}", ::getpid()));
  ChildEnd end;
  {
    ChildProcesses processes;
    end = processes.run(words, options);
    if (processes.stopped_by() != 0) request_interrupt(processes.stopped_by());
  }
  check_interrupt();
  if (end.status != 0 || end.out.empty()) {
    throw Error(fmt::format("gb.measure.in_process: the process ended with status {}{}", end.status,
                            end.out_of_time ? ", because its time was over" : ""));
  }
  return parse_json(end.out, "what the process has measured");
}

/// How many processors this process may use.
int processors() {
  return static_cast<int>(allowed_processors().size());
}

}  // namespace

void open_training_probe(lua_State* L) {
  const Module gb = Module::root(L);
  const Module native = gb.submodule("_native");
  native.function<&probe>("probe").function<&processors>("processors");
}

}  // namespace gpubench::lua
