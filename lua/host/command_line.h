// The command line as a struct. Parsing needs no part of the engine, so --help and --version respond immediately.
#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpubench {

/// The value of an option of a library's command.
using Argument = std::variant<bool, std::int64_t, double, std::string, std::vector<std::string>>;

struct CommandLine {
  std::string command = "run";
  /// Whether the command runs a script, and the script.
  bool runs_script = false;
  std::string script;
  /// If there are several: each is run in a process of its own, with `options`. Else empty.
  std::vector<std::string> scripts;
  /// The arguments of `run` without its scripts.
  std::vector<std::string> options;
  /// Axes with replacement values, in the given order.
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  std::string device;
  std::optional<double> budget_s;
  std::optional<double> timeout_s;
  /// How long to wait at most for an idle machine before an experiment's first point.
  double wait_idle_s = 0;
  bool quick = false;
  bool dry_run = false;
  bool strict = false;
  /// "ok", "reliable" or "device=gpu:0", each once.
  std::vector<std::string> require;
  /// Location of results/ and plots/; default: the working folder.
  std::optional<std::string> out;
  std::uint64_t seed = 42;
  int threads = 0;
  /// Processes to start on this machine; 0: none (this process runs alone, or under a launcher).
  int workers = 0;
  /// How many processes run each script, one after the other; 0: this one.
  int repeat = 0;
  std::optional<double> peer_timeout_s;
  std::string restart_from;
  bool trusted = false;
  std::vector<std::string> tags;
  /// Of charts, beside the SVG of the report.
  std::vector<std::string> chart_formats;
  bool quiet = false;
  bool json = false;
  bool traceback = false;
  /// Options of a command of the library (library_commands.h), by name.
  std::map<std::string, Argument> arguments;
  bool wide = false;
  /// "auto", "always" or "never".
  std::string color = "auto";
};

/// Text to print instead of running; status 0 goes to stdout, others to stderr.
struct Answer {
  int status = 0;
  std::string text;
};

/// `arguments` without the program's name. A first argument that is no command is the script of `run`.
std::variant<CommandLine, Answer> parse_command_line(std::vector<std::string> arguments);

}  // namespace gpubench
