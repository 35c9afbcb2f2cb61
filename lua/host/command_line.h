// The command line as a struct. Nothing of the engine is needed to read it, so --help and --version answer at once.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace gpubench {

enum class Command { run, list, create, devices, show, finish, completion };

struct CommandLine {
  Command command = Command::run;
  std::string script;
  /// Axis and the values that replace its own, in the order given.
  std::vector<std::pair<std::string, std::vector<std::string>>> axes;
  std::string device;
  std::optional<double> budget_s;
  std::optional<double> timeout_s;
  bool quick = false;
  bool dry_run = false;
  bool strict = false;
  /// Where results/ and plots/ are; the working folder when not given.
  std::optional<std::string> out;
  std::uint64_t seed = 42;
  int threads = 0;
  /// Processes to start on this machine; 0: this one alone, or as one of those that a launcher has started.
  int workers = 0;
  std::optional<double> peer_timeout_s;
  std::string restart_from;
  bool trusted = false;
  bool traceback = false;
  /// list: the folder to look in; new: the experiment's name; show, finish: the run; completion: the shell.
  std::string subject;
  std::string format = "text";
};

/// What to print instead of doing anything; status 0 goes to stdout, others to stderr.
struct Answer {
  int status = 0;
  std::string text;
};

/// `arguments` without the program's name. A first argument that is no command is the script of `run`.
std::variant<CommandLine, Answer> parse_command_line(std::vector<std::string> arguments);

}  // namespace gpubench
