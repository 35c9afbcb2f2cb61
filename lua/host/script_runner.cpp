#include "lua/host/script_runner.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <lua.hpp>
#include <optional>
#include <unistd.h>

#include "core/base/deadline.h"
#include "core/base/error.h"
#include "core/base/interrupt.h"
#include "core/base/resources.h"
#include "core/base/terminal.h"
#include "core/base/watchdog.h"
#include "core/device/device.h"
#include "core/group/join.h"
#include "core/results/build_info.h"
#include "core/results/run_directory.h"
#include "lua/api/output_path.h"
#include "lua/api/point_status.h"
#include "lua/api/processes.h"
#include "lua/api/session.h"
#include "lua/bind/bind.h"
#include "lua/bind/machine.h"
#include "lua/bind/other_names.h"
#include "lua/host/forced_end.h"
#include "lua/host/interrupt_handler.h"
#include "lua/host/library.h"
#include "lua/host/natives.h"
#include "lua/host/script_exit.h"
#include "lua/host/script_text.h"

namespace gpubench {
namespace {

// How long a script may take to stop when it is asked to. Steps and other computations are waited for.
constexpr std::chrono::milliseconds patience{800};
// Seconds per point with --quick: the least that an interval of the median can be read from.
constexpr double quick_budget_s = 0.3;
// Approximate time of a point besides measuring: building, planning, warming up.
constexpr double warmup_s = 0.3;
// What lua/gpubench/fresh_processes.lua tells processes that it starts together.
constexpr const char* group_variable = "GPUBENCH_GROUP";

/// Whether the command's own function loads the script and calls parts of it (tune), instead of what follows it (run).
bool loads_script(const CommandLine& line) {
  return line.runs_script && line.command != "run";
}

lua::StateOf state_of(const CommandLine& line) {
  using enum lua::StateOf;
  if (!line.runs_script) return command;
  return loads_script(line) ? tuned_script : script;
}

lua::SessionOptions session_options(const CommandLine& line, const std::vector<std::string>& arguments,
                                    const std::string& script) {
  lua::SessionOptions options;
  options.threads = line.threads;
  options.seed = line.seed;
  if (!line.device.empty()) options.device = parse_device_id(line.device);
  if (line.quick) options.budget_s = quick_budget_s;
  if (line.budget_s) options.budget_s = *line.budget_s;
  options.timeout_s = line.timeout_s;
  options.quick = line.quick;
  if (line.out) options.out = *line.out;
  options.restart_from = line.restart_from;
  options.arguments = arguments;
  options.script = line.script;
  options.script_text = script;
  return options;
}

/// See no-color.org for NO_COLOR.
bool output_has_color(const std::string& when) {
  if (when != "auto") return when == "always";
  const char* const refused = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) != 0 && (refused == nullptr || *refused == '\0') && terminal_has_escapes();
}

// The command line's options for the Lua library, as gb._native.options.
void push_options(lua_State* L, const CommandLine& line, const lua::Session& running) {
  const lua::SessionOptions& session = running.options();
  const lua::Module gb = lua::Module::root(L);
  const lua::Module native = gb.submodule("_native");
  const lua::Module options = native.submodule("options");
  options.value("script", line.script)
      .value("arguments", session.arguments)
      .value("budget_s", session.budget_s)
      .value("point_s", warmup_s + session.budget_s)
      .value("wait_idle_s", line.wait_idle_s)
      .value("threads", line.threads)
      .value("quick", line.quick)
      .value("dry_run", line.dry_run)
      .value("strict", line.strict)
      .value("tags", line.tags)
      .value("chart_formats", line.chart_formats)
      .value("quiet", line.quiet)
      .value("json", line.json)
      .value("require", line.require)
      .value("traceback", line.traceback)
      .value("out", session.out)
      .value("group", std::string(std::getenv(group_variable) ? std::getenv(group_variable) : ""))
      .value("seed", line.seed);
  if (!line.device.empty()) options.value("device", line.device);
  if (line.timeout_s) options.value("timeout_s", *line.timeout_s);
  if (loads_script(line)) options.value("script_text", session.script_text);
  const lua::Module style = options.submodule("style");
  // Launchers give their processes a terminal of their own, whatever the output is.
  const bool launched = running.group() != nullptr;
  style.value("width", launched ? 0 : terminal_columns(STDOUT_FILENO).value_or(0))
      .value("color", output_has_color(launched && line.color == "auto" ? "never" : line.color))
      .value("all_columns", line.wide)
      .value("failures_told", !launched && isatty(STDOUT_FILENO) != 0 && isatty(STDERR_FILENO) != 0);
  const lua::Module axes = options.submodule("axes");
  for (const auto& [name, values] : line.axes) axes.value(name.c_str(), values);
}

// Not the output folder itself: baselines and calibrations are in it, by which later runs are judged; without --out
// also the program and the experiments may be.
std::vector<std::filesystem::path> writable_folders(const CommandLine& line) {
  const std::filesystem::path out = line.out.value_or(".");
  for (const char* root : {"results", "plots"}) refuse_links(out, root, line.command);
  return {results_root(out), plots_root(out)};
}

void prepare(lua_State* L, const CommandLine& line) {
  {
    const lua::Module gb = lua::Module::root(L);
    luaL_getsubtable(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    lua_pushvalue(L, gb.index());
    lua_setfield(L, -2, "gpubench.native");
  }
  std::vector<std::filesystem::path> folders = lua::module_folders_of_user();
  folders.insert(folders.begin(), std::filesystem::path(line.script).parent_path());
  if (folders.front().empty()) folders.front() = ".";
  lua::open_protected_calls(L);
  lua::open_exit(L);
  if (line.dry_run) lua::refuse_work(L);
  lua::open_library(L, resource("lua/gpubench"),
                    {.folders = folders,
                     .keep_others = line.trusted,
                     .only_command = line.runs_script ? std::optional(line.command) : std::nullopt});
  if (line.runs_script) lua::name_globals(L);
  if (line.trusted || !line.runs_script) return;
  lua::confine_output(L, writable_folders(line));
  lua::close_sandbox(L);
}

void run_script(lua_State* L, const std::string& path, const std::string& text) {
  if (luaL_loadbufferx(L, text.data(), text.size(), ("@" + path).c_str(), "t") != LUA_OK) {
    const std::string reason = lua_tostring(L, -1);
    const bool named_argument = reason.ends_with("')' expected near '='");
    throw Error(reason + (named_argument ? "; named arguments stand in a table: f(x, { name = value })" : ""));
  }
  lua::protected_call(L, 0, 0);
}

void push_argument(lua_State* L, const Argument& argument) {
  std::visit([&](const auto& value) { lua::Value<std::decay_t<decltype(value)>>::push(L, value); }, argument);
}

/// The command's own function, or what follows a script.
int run_library_command(lua_State* L, const CommandLine& line) {
  lua_getglobal(L, "require");
  lua_pushstring(L, ("gpubench.commands." + line.command).c_str());
  lua::protected_call(L, 1, 1);
  lua_createtable(L, 0, static_cast<int>(line.arguments.size()));
  for (const auto& [name, argument] : line.arguments) {
    push_argument(L, argument);
    lua_setfield(L, -2, name.c_str());
  }
  lua::protected_call(L, 1, 1);
  return lua::Value<int>::read(L, -1);
}

/// The exit status: that of os.exit where the script calls it.
int run_to_the_end(lua_State* L, const CommandLine& line, const std::string& script) {
  int status = 0;
  try {
    if (line.command == "run") run_script(L, line.script, script);
    // Finalizers of the script may run during any allocation of the library.
    const TimeoutScope scope;
    // A command that runs the script itself limits each of its points.
    const Deadline deadline(loads_script(line) ? std::nullopt : line.timeout_s);
    status = run_library_command(L, line);
  } catch (const lua::ScriptExit&) {  // what it said is below
  }
  // A finalizer's os.exit ends nothing by itself.
  status = lua::Machine::of(L).exit_status.value_or(status);
  if (status == 0 && !line.dry_run && lua::session_of(L).ignores_restart()) {
    throw Error(
        fmt::format("gpubench: run: --restart-from {}: the script has trained nothing by model:fit with the option "
                    "'resume', so nothing went on from there",
                    line.restart_from));
  }
  return status;
}

int status_of(const std::exception& error, const ProcessGroup* group) {
  if (group != nullptr && !group->lost().empty()) return group->exit_status();
  return dynamic_cast<const lua::RequirementUnmet*>(&error) ? unmet_status : error_status;
}

bool is_from_script(lua_State* L) {
  return lua::Machine::of(L).delivered.exception == std::current_exception();
}

void print_error(lua_State* L, const std::exception& error, bool with_traceback) {
  const lua::PassingError& delivered = lua::Machine::of(L).delivered;
  const bool from_script = is_from_script(L);
  print_message(from_script ? delivered.text : lua::text_of(error));
  if (with_traceback && from_script) print_message(delivered.traceback);
}

/// For a process that is still in the script, in MPI or in a driver long after it was asked to stop. `lost`: why its
/// group is at its end; empty where a launcher has asked it to end. Run by the thread that watches the other processes.
[[noreturn]] void end_process(const std::string& lost) {
  if (lost.empty()) ::_exit(128 + SIGTERM);
  print_message("gpubench: " + lost);
  ::_exit(error_status);
}

/// The properties that must be equal in all processes of a run.
JoinOptions join_options(const CommandLine& line, const std::vector<std::string>& arguments,
                         const std::string& script) {
  const Info build = build_info();
  JoinOptions options;
  options.program = fmt::format("gpubench {} (commit {})", build.text("version"), build.text("commit"));
  std::string words;
  for (const std::string& argument : arguments) words += " " + argument;
  options.task = fmt::format("'{}' (script of checksum {:08x})", words.empty() ? words : words.substr(1),
                             std::hash<std::string>()(script) & 0xffffffffU);
  if (line.peer_timeout_s) options.peer_timeout = Seconds(*line.peer_timeout_s);
  options.end_process = &end_process;
  return options;
}

/// Ends all processes when one fails; process 0 reports the reason.
void leave_failing(lua_State* L, ProcessGroup& group, const std::exception& error, bool with_traceback) {
  // Others that fail alike may have been faster to say so.
  const bool own = dynamic_cast<const PeerLost*>(&error) == nullptr && !interrupt_requested();
  if (own && group.lost().empty())
    group.fail(is_from_script(L) ? lua::Machine::of(L).delivered.text : error.what(), status_of(error, nullptr));
  if (!lua::reports_for_all(group)) return;
  if (own)
    print_error(L, error, with_traceback);
  else
    print_message("gpubench: " + (group.lost().empty() ? lua::text_of(error) : group.lost()));
}

// Everything between a Lua state's beginning and its end; the exit status.
int run_in(lua_State* L, lua::Session& session, lua::InterruptHandler& handler, const CommandLine& line,
           const std::string& script) {
  ProcessGroup* const group = session.group();
  try {
    luaL_openlibs(L);
    lua::set_session(L, session);
    lua::open_natives(L, state_of(line));
    // Scripts may write there, as in a run.
    if (loads_script(line)) std::filesystem::create_directories(results_root(line.out.value_or(".")));
    push_options(L, line, session);
    prepare(L, line);
    handler.attach(lua::Machine::of(L));
    if (group) group->on_end(&lua::InterruptHandler::stop_script);
    const int status = run_to_the_end(L, line, script);
    if (group && group->lost().empty()) group->leave();
    return status;
  } catch (const std::exception& error) {
    const int signal_to_other = group ? lua::interrupted_by(*group) : 0;
    const bool by_user = interrupt_requested() && (signal_to_other != 0 || !group || group->lost().empty());
    if (group && !by_user) {
      leave_failing(L, *group, error, line.traceback);
      return status_of(error, group);
    }
    if (by_user) {
      if (signal_to_other != 0) request_interrupt(signal_to_other);
      if (group) group->fail(lua::interruption, interrupted_status());
      if (!group || group->rank() == 0) print_message(interruption_text());
      return interrupted_status();
    }
    print_error(L, error, line.traceback);
    return status_of(error, group);
  }
}

}  // namespace

int run_command(const CommandLine& line, const std::vector<std::string>& arguments) {
  // Read once: a pipe cannot be read again.
  const std::string script = line.runs_script ? read_script(line.script) : std::string();
  std::unique_ptr<ProcessGroup> joined;
  if (line.command == "run") joined = join_process_group(join_options(line, arguments, script));
  if (joined && joined->rank() > 0 && std::freopen("/dev/null", "w", stdout) == nullptr)
    throw Error("the output of a process beside process 0 cannot be sent to /dev/null");
  lua::Session session(session_options(line, arguments, script), std::move(joined));
  Watchdog watchdog(patience, [&session] { end_by_force(session); });
  lua::InterruptHandler handler(watchdog);
  std::optional<lua::State> state(std::in_place);
  const int status = run_in(*state, session, handler, line, script);
  handler.detach();
  // Finalizers run now.
  lua::end_session(*state);
  const TimeoutScope scope;
  const Deadline deadline(line.timeout_s);
  state.reset();
  return status;
}

}  // namespace gpubench
